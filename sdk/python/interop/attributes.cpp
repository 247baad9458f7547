// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "attributes.hpp"

#include <optional>

#include "python/support/numpy_descriptor.hpp"

namespace spanwise::python {

namespace py = pybind11;

void CachedAttribute::find(PyTypeObject* type) const noexcept {
  // Also assigns the class a version tag, if it has none.
  PyObject* found = _PyType_Lookup(type, name_.get());
  const bool is_own = found != nullptr && Py_IS_TYPE(found, &PyGetSetDescr_Type) &&
                      PyType_IsSubtype(type, PyDescr_TYPE(found)) != 0 &&
                      type->tp_getattro == PyObject_GenericGetAttr;
  const PyGetSetDef* definition =
      is_own ? reinterpret_cast<PyGetSetDescrObject*>(found)->d_getset : nullptr;
  type_ = type;
  version_ = type->tp_version_tag;
  get_ = definition != nullptr && version_ != 0 ? definition->get : nullptr;
  closure_ = definition != nullptr ? definition->closure : nullptr;
}

int read_integers(PyObject* object, const CachedAttribute& name,
                  std::span<std::int64_t> scratch) noexcept {
  const py::object values = name.of(object);
  if (!values || !PyTuple_Check(values.ptr())) return -1;
  const Py_ssize_t count = PyTuple_GET_SIZE(values.ptr());
  if (count > static_cast<Py_ssize_t>(scratch.size())) return -1;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const long long value = PyLong_AsLongLong(PyTuple_GET_ITEM(values.ptr(), i));
    if (value == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return -1;
    }
    scratch[static_cast<std::size_t>(i)] = value;
  }
  return static_cast<int>(count);
}

std::uintptr_t read_address(PyObject* object, const CachedAttribute& name) noexcept {
  const py::object value = name.of(object);
  if (!value || value.is_none()) return 0;
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Long(value.ptr()));
  void* address = number ? PyLong_AsVoidPtr(number.ptr()) : nullptr;
  if (address == nullptr) PyErr_Clear();
  return reinterpret_cast<std::uintptr_t>(address);
}

bool read_layout(PyObject* array, const LayoutAttributes& attributes, BorrowedTensor& memory,
                 bool is_packed) noexcept {
  const py::object dtype = attributes.dtype.of(array);
  const std::optional<DType> native = dtype ? native_numpy_dtype(dtype.ptr()) : std::nullopt;
  if (!native) return false;
  const auto scratch = std::span(memory.scratch);
  memory.rank = read_integers(array, attributes.shape, scratch.first(max_rank));
  memory.dtype = *native;
  memory.shape = scratch.data();
  if (memory.rank < 0 || is_packed) return memory.rank >= 0;
  memory.strides = scratch.data() + max_rank;
  return read_integers(array, attributes.strides, scratch.last(max_rank)) == memory.rank;
}

}  // namespace spanwise::python
