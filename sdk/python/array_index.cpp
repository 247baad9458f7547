// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstring>
#include <span>

#include "array_assign.hpp"
#include "array_slots.hpp"
#include "py_array.hpp"
#include "py_errors.hpp"
#include "spanwise/error.hpp"

/// NumPy's basic indexing (numpy.org/doc/stable/user/basics.indexing.html): integers, slices, Ellipsis
/// and newaxis, all of which make views.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// Throws for what is no basic index, saying what it would have meant in NumPy.
[[noreturn]] void refuse_key(PyObject* key) {
  const char* type = Py_TYPE(key)->tp_name;
  const bool is_truth = PyBool_Check(key) || std::strncmp(type, "numpy.bool", 10) == 0;
  const bool is_collection = PySequence_Check(key) && !PyUnicode_Check(key) && !PyBytes_Check(key);
  if (is_truth || is_collection || is_array(key)) {
    fail<ArgumentError>("Array: indexing by ", is_truth ? "a boolean" : "an array or list of indices",
                        " (here a ", type,
                        ") is not part of this release, which takes integers, slices, Ellipsis and None; "
                        "index on the host: a.numpy()[...]");
  }
  fail<BoundsError>("Array: an index is an integer, a slice, Ellipsis or None (newaxis), got a ", type);
}

std::int64_t integer_from(PyObject* key) {
  // bool is an int to Python, but to NumPy a mask.
  if (PyBool_Check(key) || !PyIndex_Check(key)) refuse_key(key);
  const Py_ssize_t value = PyNumber_AsSsize_t(key, nullptr);  // clips: far outside stays outside
  if (value == -1 && PyErr_Occurred()) {
    // Arrays have __index__ whether or not they are single integers.
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();
    PyErr_Clear();
    refuse_key(key);
  }
  return value;
}

Slice slice_from(PyObject* key) {
  Py_ssize_t start = 0, stop = 0, step = 0;
  if (PySlice_Unpack(key, &start, &stop, &step) < 0) throw py::error_already_set();
  const auto* slice = reinterpret_cast<PySliceObject*>(key);
  Slice range;
  if (slice->start != Py_None) range.start = start;
  if (slice->stop != Py_None) range.stop = stop;
  if (slice->step != Py_None) range.step = step;
  return range;
}

void check_rank(const Array& array, int consumed) {
  require<BoundsError>(consumed <= array.rank(), "Array: too many indices: ", consumed,
                       " for an array of ", array.rank(), " dimensions, shape ", array.shape());
}

// How many axes the indices use up; finds a second Ellipsis.
int count_axes(std::span<PyObject* const> keys) {
  int axes = 0, ellipses = 0;
  for (PyObject* key : keys) {
    if (key == Py_Ellipsis) {
      ++ellipses;
    } else if (key != Py_None) {
      ++axes;
    }
  }
  require<BoundsError>(ellipses <= 1, "Array: an index can hold one Ellipsis ('...'), got ", ellipses);
  return axes;
}

Array view_by_all(const Array& array, std::span<PyObject* const> keys) {
  const int consumed = count_axes(keys);
  check_rank(array, consumed);
  Layout layout = array.layout();
  int axis = 0;
  for (PyObject* key : keys) {
    if (key == Py_Ellipsis) {
      axis += array.rank() - consumed;
    } else if (key == Py_None) {
      layout = layout.expand(axis++);
    } else if (PySlice_Check(key)) {
      layout = layout.slice(axis++, slice_from(key));
    } else {
      layout = layout.index(axis, integer_from(key));
    }
  }
  return array.with_layout(std::move(layout));
}

Array view_by(const Array& array, PyObject* key) {
  if (PySlice_Check(key)) {
    check_rank(array, 1);
    return array.slice(0, slice_from(key));
  }
  if (PyLong_CheckExact(key)) {
    check_rank(array, 1);
    return array.index(0, integer_from(key));
  }
  if (PyTuple_Check(key)) {
    return view_by_all(array, {&PyTuple_GET_ITEM(key, 0), static_cast<std::size_t>(PyTuple_GET_SIZE(key))});
  }
  return view_by_all(array, {&key, 1});
}

}  // namespace

PyObject* array_subscript(PyObject* self, PyObject* key) noexcept {
  try {
    return wrap_view(self, view_by(array_in(self), key));
  } catch (...) {
    return raise_current();
  }
}

int array_assign(PyObject* self, PyObject* key, PyObject* value) noexcept {
  try {
    require<ArgumentError>(value != nullptr, "Array: elements cannot be deleted; take a view or a copy of the rest");
    assign(view_by(array_in(self), key), value);
    return 0;
  } catch (...) {
    raise_current();
    return -1;
  }
}

PyObject* array_item(PyObject* self, Py_ssize_t index) noexcept {
  const Array& array = array_in(self);
  // The end of an iteration: raised directly, as it is no failure and comes with every loop.
  if (array.rank() == 0 || index < 0 || index >= array.shape()[0]) {
    PyErr_Format(errors.bounds, "Array: index %zd is outside the first axis", index);
    return nullptr;
  }
  try {
    return wrap_view(self, array.index(0, index));
  } catch (...) {
    return raise_current();
  }
}

Py_ssize_t array_length(PyObject* self) noexcept {
  const Array& array = array_in(self);
  if (array.rank() == 0) {
    PyErr_SetString(PyExc_TypeError, "len() of an array of rank 0; use .size or .item()");
    return -1;
  }
  return array.shape()[0];
}

PyObject* array_iter(PyObject* self) noexcept {
  if (array_in(self).rank() == 0) {
    PyErr_SetString(PyExc_TypeError, "an array of rank 0 cannot be iterated over; use .item()");
    return nullptr;
  }
  return PySeqIter_New(self);
}

}  // namespace spanwise::python
