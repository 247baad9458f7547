// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <span>
#include <string>
#include <vector>

#include "arguments_py.hpp"
#include "indexing.hpp"
#include "python/array/index.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/call.hpp"
#include "python/support/host.hpp"
#include "spanwise/core/error.hpp"

/// array[key] for keys that hold index arrays, lists or masks.
namespace spanwise::python {

namespace py = pybind11;

namespace {

Slice slice_from(PyObject* part) {
  Py_ssize_t start = 0, stop = 0, step = 0;
  if (PySlice_Unpack(part, &start, &stop, &step) < 0) {
    if (!PyErr_ExceptionMatches(PyExc_ValueError)) throw py::error_already_set();
    PyErr_Clear();
    fail<ArgumentError>("Array: the step of a slice cannot be 0, got ",
                        std::string(py::repr(part)));
  }
  return {start, stop, step};
}

// Python objects that importers might convert to an array, but that NumPy never takes as an index.
bool is_never_index(PyObject* part) {
  return PyFloat_Check(part) || PyComplex_Check(part) || PyUnicode_Check(part) ||
         PyBytes_Check(part) || PyDict_Check(part);
}

ops::IndexPart part_from(PyObject* part) {
  if (is_array(part)) {
    const Array& array = array_in(part);
    if (array.rank() == 0 && array.dtype().is_integer()) return item(array).as_int64();
    return array;
  }
  if (part == Py_Ellipsis) return ops::Ellipsis{};
  if (part == Py_None) return ops::NewAxis{};
  if (PySlice_Check(part)) return slice_from(part);
  if (PyBool_Check(part)) return index_array_in(part);
  if (is_integer_index(part)) {
    const Py_ssize_t value = PyNumber_AsSsize_t(part, nullptr);  // clips
    if (value == -1 && PyErr_Occurred()) throw py::error_already_set();
    return std::int64_t{value};
  }
  if (is_never_index(part)) refuse_index(part);
  try {
    return index_array_in(part);
  } catch (const BridgeError&) {
    refuse_index(part);
  }
}

// The parts of a key; most keys have one part, which needs no allocation.
class Key {
 public:
  explicit Key(PyObject* key) {
    if (!PyTuple_Check(key)) {
      single_[0] = part_from(key);
      is_single_ = true;
      return;
    }
    const Py_ssize_t size = PyTuple_GET_SIZE(key);
    several_.reserve(static_cast<std::size_t>(size));
    for (Py_ssize_t i = 0; i < size; ++i) several_.push_back(part_from(PyTuple_GET_ITEM(key, i)));
  }
  std::span<const ops::IndexPart> parts() const noexcept {
    return is_single_ ? std::span<const ops::IndexPart>(single_) : several_;
  }

 private:
  std::array<ops::IndexPart, 1> single_{};
  std::vector<ops::IndexPart> several_;
  bool is_single_ = false;
};

PyObject* try_take_small(PyObject* self, PyObject* key) {
  const Array& vector = array_in(self);
  if (vector.rank() != 1 || !no_pending_work(vector)) return nullptr;
  if (is_array(key)) {
    const Array& indices = array_in(key);
    const bool fits = indices.dtype() == int64 && indices.rank() > 0 && !is_long(indices) &&
                      no_pending_work(indices) && indices.layout().is_row_major();
    return fits ? wrap(ops::take_small(vector, indices.data(), indices.shape())) : nullptr;
  }
  const auto indices = small_memory(key);
  if (!indices || indices->dtype != int64 || indices->shape.empty()) return nullptr;
  return wrap(ops::take_small(vector, indices->data, indices->shape));
}

PyObject* read(PyObject* self, PyObject* key) {
  const Array& array = array_in(self);
  // Fast path for one int64 index array.
  if (array.rank() > 0 && !is_long(array)) {
    const auto is_simple = [](const Array& indices) {
      return indices.dtype() == int64 && indices.rank() > 0 && !is_long(indices);
    };
    if (is_array(key)) {
      if (is_simple(array_in(key)))
        return wrap(ops::take(array, array_in(key), 0, ops::Bounds::raise));
    } else if (!PyTuple_Check(key) && !PyList_Check(key)) {
      if (const auto borrowed = borrowed_array(key); borrowed && is_simple(*borrowed))
        return wrap(ops::take(array, *borrowed, 0, ops::Bounds::raise));
    }
  }
  const Key parsed(key);
  if (!is_long(array, parsed.parts())) return wrap(ops::index_by(array, parsed.parts()));
  const Array source = array;  // another thread may release the Python object
  return wrap(without_gil([&] { return ops::index_by(source, parsed.parts()); }));
}

void assign(PyObject* self, PyObject* key, PyObject* value_object) {
  const Key parsed(key);
  const Array target = array_in(self);
  const ValueArray owner(value_object, target);
  const Array& value = owner.array();
  without_gil(is_long(target, parsed.parts()),
              [&] { ops::assign_by(target, parsed.parts(), value); });
}

void accumulate(const char* name, PyObject* self, PyObject* key, PyObject* value_object) {
  const Key parsed(key);
  const Array target = array_in(self);
  const ValueArray owner(value_object, target);
  const Array& value = owner.array();
  const ops::Accumulation how = ops::accumulation_from(name);
  without_gil(is_long(target, parsed.parts()) || is_long(value),
              [&] { ops::accumulate_by(target, parsed.parts(), value, how); });
}

}  // namespace

SW_BIND(indexing_keys) { array_indexing = {&try_take_small, &read, &assign, &accumulate}; }

}  // namespace spanwise::python
