// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "element.hpp"

#include <cstddef>
#include <cstring>

#include "python/support/array.hpp"
#include "python/support/call.hpp"
#include "python/support/host.hpp"
#include "python/support/scalar.hpp"
#include "spanwise/runtime/copy.hpp"

namespace spanwise::python {

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

}  // namespace

PyObject* wrap_element(const Array& array, std::int64_t offset) {
  if (array.device() == cpu && no_pending_work(array))
    return wrap_copy_of(address_of(array, offset), array.dtype());
  const Array element = array.with_layout({{}, {}, offset});
  return wrap(without_gil(is_long(element), [&] { return copy(element); }));
}

PyObject* try_element(const Array& array, PyObject* key) {
  std::int64_t offset = 0;
  return try_find_offset(array.layout(), key, offset) ? wrap_element(array, offset) : nullptr;
}

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

}  // namespace spanwise::python
