// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <Python.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "python/array/array_copies.hpp"
#include "python/array/array_hooks.hpp"
#include "python/array/array_object.hpp"
#include "python/array/array_slots.hpp"
#include "python/interop/exchange.hpp"
#include "python/support/c_api.hpp"
#include "python/support/error_classes.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/indexed_layout.hpp"
#include "spanwise/runtime/copy.hpp"

/// NumPy's basic indexing (numpy.org/doc/stable/user/basics.indexing.html): integers, slices,
/// Ellipsis and newaxis make views; a key for a single element makes a copy, by a fast path. Keys
/// with arrays are passed to array_indexing.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// Sets `offset` to the element's offset in the storage, in elements, if the key consists of
// in-range ints. Returns false for other keys, which take the slow path with full checks. Not a
// std::optional: loading its two members as one word causes a store-forwarding stall.
bool try_find_offset(const Layout& layout, PyObject* key, std::int64_t& offset) noexcept {
  const bool is_tuple = PyTuple_CheckExact(key);
  const Py_ssize_t count = is_tuple ? PyTuple_GET_SIZE(key) : 1;
  if (count != layout.rank()) return false;
  offset = layout.offset;
  for (int axis = 0; axis < layout.rank(); ++axis) {
    PyObject* part = is_tuple ? PyTuple_GET_ITEM(key, axis) : key;
    if (!PyLong_CheckExact(part)) return false;
    int overflow = 0;
    std::int64_t i = PyLong_AsLongLongAndOverflow(part, &overflow);
    const std::int64_t extent = layout.shape[axis];
    if (i < 0) i += extent;
    if (overflow != 0 || i < 0 || i >= extent) return false;
    offset += i * layout.strides[axis];
  }
  return true;
}

std::byte* address_of(const Array& array, std::int64_t offset) noexcept {
  return static_cast<std::byte*>(array.storage().data()) + offset * array.dtype().itemsize();
}

// A new reference to a new array of rank 0 on the same device, with a copy of the element at
// `offset` (in elements from the start of the storage). The copy is made on the device's current
// stream. Null with a Python error when out of memory; throws the errors of copy().
PyObject* wrap_element(const Array& array, std::int64_t offset) {
  if (array.device() == cpu && no_pending_work(array))
    return wrap_copy_of(address_of(array, offset), array.dtype());
  const Array element = array.with_layout({{}, {}, offset});
  return wrap(without_gil(is_long(element), [&] { return copy(element); }));
}

// a[key] for a `key` of exact ints, one for each axis (an int or a tuple): a new reference as from
// wrap_element(). Null without a Python error for any other key, and for out-of-range indices.
PyObject* try_element(const Array& array, PyObject* key) {
  std::int64_t offset = 0;
  return try_find_offset(array.layout(), key, offset) ? wrap_element(array, offset) : nullptr;
}

// a[key] = value for a `key` as in try_element() and a Python number, if the array is writable and
// on the host without pending work. Returns false, without a change, in all other cases; throws
// the errors of scalar_from().
bool try_assign_element(const Array& array, PyObject* key, PyObject* value) {
  if (!is_python_scalar(value) || array.readonly() || !no_pending_work(array)) return false;
  std::int64_t offset = 0;
  if (!try_find_offset(array.layout(), key, offset)) return false;
  std::byte* address = address_of(array, offset);
  if (PyFloat_CheckExact(value) && array.dtype() == float64) {
    const double number = PyFloat_AS_DOUBLE(value);
    std::memcpy(address, &number, sizeof number);
    return true;
  }
  const Scalar scalar = scalar_from(value, array.dtype());
  std::memcpy(address, scalar.data(), static_cast<std::size_t>(array.dtype().itemsize()));
  return true;
}

// basic: integers, slices, Ellipsis and None; by_array: everything else.
enum class PartKind { basic, by_array };

PartKind kind_of(PyObject* part) {
  if (PyLong_CheckExact(part) || PySlice_Check(part) || part == Py_None || part == Py_Ellipsis)
    return PartKind::basic;
  // bool is a subclass of int, but a mask in NumPy. numpy.bool is no sequence and has no __index__.
  if (PyBool_Check(part) || PyList_Check(part) || PyTuple_Check(part)) return PartKind::by_array;
  if (is_array(part)) {
    const Array& array = array_in(part);
    return array.rank() == 0 && array.dtype().is_integer() ? PartKind::basic : PartKind::by_array;
  }
  return is_integer_index(part) ? PartKind::basic : PartKind::by_array;
}

std::span<PyObject* const> parts_of(PyObject* const& key) noexcept {
  if (!PyTuple_Check(key)) return {&key, 1};
  return {&PyTuple_GET_ITEM(key, 0), static_cast<std::size_t>(PyTuple_GET_SIZE(key))};
}

bool is_by_array(PyObject* key) {
  return std::ranges::any_of(parts_of(key),
                             [](PyObject* part) { return kind_of(part) == PartKind::by_array; });
}

std::int64_t index_from(PyObject* key) {
  const Py_ssize_t value = PyNumber_AsSsize_t(key, nullptr);  // clipped: out of range either way
  if (value == -1 && PyErr_Occurred()) {
    clear_conversion_error();
    refuse_index(key);
  }
  return value;
}

// Normalised by PySlice_AdjustIndices().
SliceRange slice_range(PyObject* key, std::int64_t extent) {
  Py_ssize_t start = 0, stop = 0, step = 0;
  unpack_slice(key, start, stop, step);
  const Py_ssize_t length = PySlice_AdjustIndices(extent, &start, &stop, step);
  return {start, length, step};
}

Layout layout_by(const Layout& source, PyObject* index) {
  const auto keys = parts_of(index);
  int consumed = 0, ellipses = 0;
  for (PyObject* key : keys) {
    ellipses += key == Py_Ellipsis;
    consumed += key != Py_Ellipsis && key != Py_None;
  }
  IndexedLayout view(source, consumed, ellipses);
  for (PyObject* key : keys) {
    if (key == Py_Ellipsis) {
      view.take_ellipsis();
    } else if (key == Py_None) {
      view.insert_axis();
    } else if (PySlice_Check(key)) {
      view.take(slice_range(key, view.extent()));
    } else {
      view.take(index_from(key));
    }
  }
  view.take_remaining_axes();
  return view.layout();
}

// Fast path of a[i] for an in-range int; null without a Python error for other keys.
PyObject* try_index_first_axis(PyObject* self, PyObject* key) {
  const Array& array = array_in(self);
  const Layout& layout = array.layout();
  if (!PyLong_CheckExact(key) || layout.rank() == 0) return nullptr;
  int overflow = 0;
  const std::int64_t i = PyLong_AsLongLongAndOverflow(key, &overflow), n = layout.shape[0];
  if (overflow != 0 || i < -n || i >= n) return nullptr;
  if (layout.rank() > 1) return wrap_view(self, layout.index(0, i));
  return wrap_element(array, layout.offset + (i < 0 ? i + n : i) * layout.strides[0]);
}

// As NumPy: a key for a single element makes a copy, unless it contains an Ellipsis.
PyObject* view_or_element(PyObject* self, PyObject* key) {
  Layout layout = layout_by(array_in(self).layout(), key);
  if (layout.rank() == 0 && std::ranges::find(parts_of(key), Py_Ellipsis) == parts_of(key).end())
    return wrap_element(array_in(self), layout.offset);
  return wrap_view(self, std::move(layout));
}

Array view_by(const Array& array, PyObject* key) {
  return array.with_layout(layout_by(array.layout(), key));
}

}  // namespace

ArrayIndexing array_indexing;

bool is_integer_index(PyObject* part) {
  if (!PyIndex_Check(part)) return false;
  if (!may_have_length(part)) return true;
  if (has_length(part)) return false;
  try {
    if (const auto dtype = foreign_dtype(part)) return dtype->is_integer();
  } catch (const BridgeError&) {  // no bridge reads it, for instance a lazy array: try __index__
  }
  const auto integer = py::reinterpret_steal<py::object>(PyNumber_Index(part));
  if (integer) return true;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();
  PyErr_Clear();
  return false;
}

void refuse_index(PyObject* part) {
  fail<BoundsError>(
      "Array: only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
      "boolean arrays are valid indices, got a ",
      Py_TYPE(part)->tp_name);
}

PyObject* array_subscript(PyObject* self, PyObject* key) {
  PyObject* element =
      PyTuple_CheckExact(key) ? try_element(array_in(self), key) : try_index_first_axis(self, key);
  if (element != nullptr || PyErr_Occurred()) return element;
  if (!PyTuple_Check(key) && !PySlice_Check(key))
    if (PyObject* elements = array_indexing.try_take_small(self, key)) return elements;
  if (is_by_array(key)) return array_indexing.read(self, key);
  return view_or_element(self, key);
}

int array_assign(PyObject* self, PyObject* key, PyObject* value) {
  if (value == nullptr)
    fail<ArgumentError>("Array: elements cannot be deleted; take a view or a copy of the rest");
  if (try_assign_element(array_in(self), key, value)) return 0;
  if (is_by_array(key))
    array_indexing.assign(self, key, value);
  else
    assign(view_by(array_in(self), key), value);
  return 0;
}

PyObject* array_item(PyObject* self, Py_ssize_t index) {
  const Array& array = array_in(self);
  // Ends an iteration. Set without a C++ exception, since every loop gets here.
  if (array.rank() == 0 || index < 0 || index >= array.shape()[0]) {
    PyErr_Format(errors.bounds, "Array: index %zd is outside the first axis", index);
    return nullptr;
  }
  const Layout& layout = array.layout();
  if (layout.rank() == 1) return wrap_element(array, layout.offset + index * layout.strides[0]);
  return wrap_view(self, layout.index(0, index));
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
