// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <numeric>
#include <vector>

#include "python/support/array.hpp"
#include "python/support/tuple.hpp"
#include "python/support/type.hpp"
#include "slots.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

PyObject* matrix_transposed(PyObject* self) {
  const Array& array = array_in(self);
  const int rank = array.rank();
  if (rank < 2)
    fail<LayoutError>("Array.mT: expected two dimensions or more, got shape ", array.shape(),
                      "; use a[:, None] for a column");
  std::vector<int> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return wrap_view(self, array.layout().permute(axes));
}

PyObject* base(PyObject* self) {
  PyObject* owner = reinterpret_cast<PyArray*>(self)->base;
  if (owner == nullptr) owner = owner_of(array_in(self).storage());
  return Py_NewRef(owner != nullptr ? owner : Py_None);
}

py::object stream(PyObject* self) {
  const Array& array = array_in(self);
  if (array.storage()) {
    const auto users = array.storage().uses().all();  // the last writer first
    if (!users.empty()) return py::cast(Stream::of(*users.front()));
  }
  return py::cast(Stream::current(array.device()));
}

// The attribute get(array).
template <auto get>
PyGetSetDef of_array(const char* name, const char* doc) {
  return attribute<[](PyObject* self) { return get(array_in(self)); }>(name, doc);
}

}  // namespace

PyGetSetDef array_attributes[] = {
    of_array<[](const Array& a) { return integer_tuple(a.shape()); }>("shape",
                                                                      "Extents, one per axis."),
    of_array<[](const Array& a) { return integer_tuple(a.strides(), a.dtype().itemsize()); }>(
        "strides", "Bytes from one element to the next along each axis; may be negative."),
    of_array<[](const Array& a) { return dtype_object(a.dtype()); }>("dtype",
                                                                     "Type of one element."),
    of_array<[](const Array& a) { return PyLong_FromLong(a.rank()); }>("ndim", "Number of axes."),
    of_array<[](const Array& a) { return PyLong_FromLongLong(a.size()); }>("size",
                                                                           "Number of elements."),
    of_array<[](const Array& a) { return PyLong_FromLongLong(a.nbytes()); }>("nbytes",
                                                                             "size * itemsize."),
    of_array<[](const Array& a) { return PyLong_FromLong(a.dtype().itemsize()); }>(
        "itemsize", "Bytes of one element."),
    attribute<[](PyObject* self) { return wrap_view(self, array_in(self).layout().transpose()); }>(
        "T", "View with the axes in reverse order."),
    attribute<&matrix_transposed>("mT", "View with the last two axes swapped."),
    attribute<&base>(
        "base",
        "The owner of the memory: for a view the viewed array, for an imported array the foreign\n"
        "object, None for an array whose memory Spanwise allocated."),
    of_array<[](const Array& a) { return device_object(a.device()); }>("device",
                                                                       "The device of the memory."),
    attribute<&stream>(
        "stream",
        "The stream of the last writer of the memory, else of another user; the device's current\n"
        "stream if no stream uses it."),
    of_array<[](const Array& a) {
      return PyLong_FromUnsignedLongLong(reinterpret_cast<std::uintptr_t>(a.data()));
    }>("ptr", "Address of element (0, ..., 0), as passed to a raw kernel parameter."),
    {}};

}  // namespace spanwise::python
