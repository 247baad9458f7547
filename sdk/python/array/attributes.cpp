// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <numeric>
#include <vector>

#include "python/support/array.hpp"
#include "slots.hpp"
#include "spanwise/error.hpp"
#include "spanwise/stream.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

// A getter slot from a function that may throw.
template <PyObject* (*function)(PyObject*)>
PyObject* guarded_getter(PyObject* self, void*) noexcept {
  try {
    return function(self);
  } catch (...) {
    return raise_current();
  }
}

template <class Values>
PyObject* integer_tuple(const Values& values, std::int64_t factor) noexcept {
  PyObject* tuple = PyTuple_New(values.size());
  if (tuple == nullptr) return nullptr;
  for (int i = 0; i < values.size(); ++i) {
    PyObject* number = PyLong_FromLongLong(values[i] * factor);
    if (number == nullptr) {
      Py_DECREF(tuple);
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple, i, number);
  }
  return tuple;
}

PyObject* shape(PyObject* self, void*) noexcept { return integer_tuple(array_in(self).shape(), 1); }

PyObject* strides(PyObject* self, void*) noexcept {
  const Array& array = array_in(self);
  return integer_tuple(array.strides(), array.dtype().itemsize());
}

PyObject* ndim(PyObject* self, void*) noexcept { return PyLong_FromLong(array_in(self).rank()); }
PyObject* size(PyObject* self, void*) noexcept {
  return PyLong_FromLongLong(array_in(self).size());
}
PyObject* nbytes(PyObject* self, void*) noexcept {
  return PyLong_FromLongLong(array_in(self).nbytes());
}

PyObject* itemsize(PyObject* self, void*) noexcept {
  return PyLong_FromLong(array_in(self).dtype().itemsize());
}

PyObject* address(PyObject* self, void*) noexcept {
  return PyLong_FromUnsignedLongLong(reinterpret_cast<std::uintptr_t>(array_in(self).data()));
}

PyObject* dtype(PyObject* self) { return dtype_object(array_in(self).dtype()).release().ptr(); }
PyObject* device(PyObject* self) { return device_object(array_in(self).device()).release().ptr(); }
PyObject* transposed(PyObject* self) {
  return wrap_view(self, array_in(self).layout().transpose());
}

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

PyObject* base(PyObject* self, void*) noexcept {
  PyObject* found = reinterpret_cast<PyArray*>(self)->base;
  if (found == nullptr) found = owner_of(array_in(self).storage());
  if (found == nullptr) found = Py_None;
  Py_INCREF(found);
  return found;
}

PyObject* stream(PyObject* self) {
  const Array& array = array_in(self);
  if (array.storage()) {
    const auto users = array.storage().uses().all();  // writer first
    if (!users.empty()) return py::cast(Stream::of(*users.front())).release().ptr();
  }
  return py::cast(Stream::current(array.device())).release().ptr();
}

}  // namespace

PyGetSetDef array_attributes[] = {
    {"shape", &shape, nullptr, "Extents, one per axis.", nullptr},
    {"strides", &strides, nullptr,
     "Bytes from one element to the next along each axis; may be "
     "negative.",
     nullptr},
    {"dtype", &guarded_getter<&dtype>, nullptr, "Type of one element.", nullptr},
    {"ndim", &ndim, nullptr, "Number of axes.", nullptr},
    {"size", &size, nullptr, "Number of elements.", nullptr},
    {"nbytes", &nbytes, nullptr, "size * itemsize.", nullptr},
    {"itemsize", &itemsize, nullptr, "Bytes of one element.", nullptr},
    {"T", &guarded_getter<&transposed>, nullptr, "View with the axes in reverse order.", nullptr},
    {"mT", &guarded_getter<&matrix_transposed>, nullptr, "View with the last two axes swapped.",
     nullptr},
    {"base", &base, nullptr,
     "The owner of the memory: for a view the viewed array, for an imported array the foreign\n"
     "object, None for an array with memory of its own.",
     nullptr},
    {"device", &guarded_getter<&device>, nullptr, "The device of the memory.", nullptr},
    {"stream", &guarded_getter<&stream>, nullptr,
     "The stream of the last writer of the memory, else of another user; the device's current\n"
     "stream if no stream uses it.",
     nullptr},
    {"ptr", &address, nullptr,
     "Address of element (0, ..., 0), as passed to a raw kernel parameter.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace spanwise::python
