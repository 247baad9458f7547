// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "numpy_types.hpp"

#include <pybind11/numpy.h>

#include <string>

#include "python/support/numpy_descriptor.hpp"
#include "python/support/snapshot.hpp"
#include "spanwise/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

// The first type number of types that packages add to NumPy (NPY_USERDEF).
constexpr int first_added_number = 256;

const char* remedy_for(char kind) {
  switch (kind) {
    case 'M':
    case 'm':
      return "view the times as numbers: x.view(\"int64\")";
    case 'S':
    case 'U':
    case 'V':
      return "view its bytes: x.view(\"uint8\")";
    default:
      return "convert it: x.astype(\"float64\")";
  }
}

// Added types (ml_dtypes) are identified by name and size, because some are padded that DLPack
// packs.
ElementType named_element(const py::dtype& descriptor, int number) {
  const std::string name = py::str(descriptor.attr("name"));
  if (!descriptor.attr("names").is_none())
    fail<DTypeError>("numpy: an array of structs (", name,
                     ") has no one dtype; pass one field of it: x[\"field\"]");
  if (number >= first_added_number) {
    try {
      const DType dtype = DType::parse(name);
      if (dtype.itemsize() == descriptor.itemsize()) return {dtype, false};
    } catch (const DTypeError&) {
      // The error below describes the array.
    }
  }
  fail<DTypeError>("numpy: dtype ", name, " is none that Spanwise has; ",
                   remedy_for(descriptor.kind()));
}

// A reference that is never released; null if the module has no such class (yet).
PyTypeObject* type_attribute(const py::object& module, const char* name) noexcept {
  PyObject* attribute = PyObject_GetAttrString(module.ptr(), name);
  if (attribute == nullptr) PyErr_Clear();
  if (attribute != nullptr && PyType_Check(attribute))
    return reinterpret_cast<PyTypeObject*>(attribute);
  Py_XDECREF(attribute);
  return nullptr;
}

}  // namespace

const NumpyTypes& numpy_types() noexcept {
  static NumpyTypes types;
  if (types.ndarray == nullptr) {
    if (const py::object numpy = loaded_module("numpy")) {
      types.generic = type_attribute(numpy, "generic");
      types.ndarray = type_attribute(numpy, "ndarray");
    }
  }
  return types;
}

ElementType element_of(PyObject* descriptor) {
  if (const auto known = numpy_element(descriptor)) [[likely]]
    return *known;
  const int number = py::detail::array_descriptor_proxy(descriptor)->type_num;
  return named_element(py::reinterpret_borrow<py::dtype>(descriptor), number);
}

}  // namespace spanwise::python
