// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/interop/nested_sequence.hpp"

#include <pybind11/pybind11.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "python/array/array_object.hpp"
#include "python/interop/exchange.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

bool is_text(PyObject* object) noexcept {
  return PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object);
}

bool is_sequence(PyObject* object) noexcept {
  if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) return true;
  return PySequence_Check(object) && !PyDict_Check(object) && !is_text(object);
}

// Walks a nested sequence once to find its shape, its dtype and its leaves in C order, then writes
// the leaves. It holds references to the leaves, so sequences that create new items at each access,
// and lists that change after they were read, are safe.
class SequenceReader {
 public:
  SequenceReader(std::optional<DType> dtype, bool may_compute)
      : requested_(dtype), may_compute_(may_compute) {}

  Array read(PyObject* object) {
    measure(object, 0);
    const DType dtype = requested_.value_or(dtype_.value_or(float64));
    const Array result = empty(Shape(std::span<const std::int64_t>(shape_)), dtype, cpu);
    write(result);
    return result;
  }

 private:
  [[noreturn]] void fail_here(const std::string& expected, const std::string& got) const {
    std::string position;
    for (const std::int64_t index : path_) position += text('[', index, ']');
    fail<ArgumentError>("asarray: a nested sequence must have one shape; expected ", expected,
                        " at ", position.empty() ? "the top" : position, ", got ", got,
                        "; pad the rows, or make several arrays");
  }

  void join(DType dtype) { dtype_ = dtype_ ? promote(*dtype_, dtype) : dtype; }

  // Sets the extent of axis `depth` at the first branch of that depth; all others must match it.
  void expect_extent(int depth, std::int64_t extent) {
    const auto axis = static_cast<std::size_t>(depth);
    if (axis == shape_.size()) {
      if (leaf_depth_ >= 0) fail_here("a number", text("a sequence of length ", extent));
      if (depth == max_rank) fail_here(text("at most ", max_rank, " levels"), "more");
      shape_.push_back(extent);
    } else if (shape_[axis] != extent) {
      fail_here(text("length ", shape_[axis]), text("length ", extent));
    }
  }

  void expect_leaf(int depth) {
    if (leaf_depth_ < 0 && static_cast<std::size_t>(depth) == shape_.size()) leaf_depth_ = depth;
    if (leaf_depth_ != depth)
      fail_here(text("a sequence of length ", shape_[static_cast<std::size_t>(depth)]), "a number");
  }

  void measure(PyObject* object, int depth) {
    if (is_python_scalar(object)) return measure_number(object, depth);
    const bool list = PyList_CheckExact(object) || PyTuple_CheckExact(object);
    // Text is not an element, although the buffer bridge would accept a bytes object.
    if (!list && !is_text(object) && try_measure_array(object, depth)) return;
    if (!is_sequence(object))
      fail<DTypeError>("asarray: an element of type ", Py_TYPE(object)->tp_name,
                       "; expected numbers, arrays or sequences of them; convert it first");
    const py::object items = items_of(object);
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(items.ptr());
    expect_extent(depth, count);
    path_.push_back(0);
    for (Py_ssize_t i = 0; i < count; ++i) {
      path_.back() = i;
      measure(item(items, i, count).ptr(), depth + 1);
    }
    path_.pop_back();
  }

  void measure_number(PyObject* object, int depth) {
    expect_leaf(depth);
    leaves_.push_back(py::reinterpret_borrow<py::object>(object));
    if (requested_ || (is_float64_ && PyFloat_CheckExact(object))) return;
    if (PyBool_Check(object)) return join(bool_);
    if (PyComplex_Check(object)) return join(complex128);
    if (PyFloat_Check(object)) {
      join(float64);
      is_float64_ = *dtype_ == float64;  // further floats do not change the dtype
      return;
    }
    int overflow = 0;
    PyLong_AsLongLongAndOverflow(object, &overflow);
    join(overflow > 0 ? uint64 : int64);
  }

  bool try_measure_array(PyObject* object, int depth) {
    if (is_array(object)) {
      arrays_.push_back(array_in(object));
    } else {
      std::optional<Array> array = import_foreign(object, {.may_compute = may_compute_});
      if (!array) return false;
      arrays_.push_back(*std::move(array));
    }
    leaves_.emplace_back();
    const Array& array = arrays_.back();
    for (int axis = 0; axis < array.rank(); ++axis)
      expect_extent(depth + axis, array.shape()[axis]);
    expect_leaf(depth + array.rank());
    if (!requested_) join(array.dtype());
    return true;
  }

  void write(const Array& target) const {
    const DType dtype = target.dtype();
    const auto itemsize = static_cast<std::size_t>(dtype.itemsize());
    auto* const bytes = static_cast<std::byte*>(target.data());
    std::int64_t element = 0;
    auto array = arrays_.begin();
    for (const py::object& leaf : leaves_) {
      if (!leaf) {
        Layout part = Layout::row_major(array->shape());
        part.offset = element;
        copy(*array, target.with_layout(std::move(part)));
        element += (array++)->size();
        continue;
      }
      std::byte* address = bytes + static_cast<std::size_t>(element++) * itemsize;
      if (dtype == float64 && PyFloat_CheckExact(leaf.ptr())) {
        const double value = PyFloat_AS_DOUBLE(leaf.ptr());
        std::memcpy(address, &value, sizeof value);
      } else {
        std::memcpy(address, scalar_from(leaf.ptr(), dtype).data(), itemsize);
      }
    }
  }

  static py::object items_of(PyObject* sequence) {
    return owned(PySequence_Fast(sequence, "asarray: a sequence that cannot be iterated"));
  }

  // Checks the length each time: reading an element may run code that changes the list.
  static py::object item(const py::object& items, Py_ssize_t i, Py_ssize_t count) {
    if (PySequence_Fast_GET_SIZE(items.ptr()) != count)
      fail<ArgumentError>("asarray: the sequence changed while it was read; pass a copy of it");
    return py::reinterpret_borrow<py::object>(PySequence_Fast_GET_ITEM(items.ptr(), i));
  }

  std::optional<DType> requested_, dtype_{};
  bool may_compute_;
  bool is_float64_ = false;
  std::vector<std::int64_t> shape_, path_;
  int leaf_depth_ = -1;             // the rank of the result; -1 before the first number
  std::vector<py::object> leaves_;  // a number, or null for the next element of arrays_
  std::vector<Array> arrays_;
};

// Fast path for a list of exact floats, or of exact ints that fit in int64; nothing for other
// objects. The allocation may run Python code (use_allocator) that changes the list, so its length
// is checked again; reading such numbers runs no code, so the items are borrowed.
std::optional<Array> array_of_numbers(PyObject* object, std::optional<DType> requested) {
  if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object)) return std::nullopt;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
  if (count == 0) return std::nullopt;
  PyTypeObject* const type = Py_TYPE(PySequence_Fast_GET_ITEM(object, 0));
  const bool is_float = type == &PyFloat_Type;
  const DType dtype = is_float ? float64 : int64;
  if ((!is_float && type != &PyLong_Type) || requested.value_or(dtype) != dtype)
    return std::nullopt;
  Array created = empty({count}, dtype, cpu);
  if (PySequence_Fast_GET_SIZE(object) != count) return std::nullopt;
  PyObject* const* items = PySequence_Fast_ITEMS(object);
  auto* address = static_cast<std::byte*>(created.data());
  for (Py_ssize_t i = 0; i < count; ++i, address += 8) {
    if (Py_TYPE(items[i]) != type) return std::nullopt;
    if (is_float) {
      const double value = PyFloat_AS_DOUBLE(items[i]);
      std::memcpy(address, &value, sizeof value);
    } else {
      int overflow = 0;
      const long long value = PyLong_AsLongLongAndOverflow(items[i], &overflow);
      if (overflow != 0) return std::nullopt;
      std::memcpy(address, &value, sizeof value);
    }
  }
  return created;
}

}  // namespace

bool is_nested_sequence(PyObject* object) noexcept {
  return is_python_scalar(object) || is_sequence(object);
}

Array array_from_sequence(PyObject* object, std::optional<DType> dtype, Device device,
                          bool may_compute) {
  std::optional<Array> plain = array_of_numbers(object, dtype);
  const Array array = plain ? *std::move(plain) : SequenceReader(dtype, may_compute).read(object);
  return device.is_cpu() ? array : to_device(array, device);
}

}  // namespace spanwise::python
