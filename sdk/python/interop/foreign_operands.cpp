// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/interop/foreign_operands.hpp"

#include <pybind11/pybind11.h>

#include "python/array/array_object.hpp"
#include "python/graph/variable_object.hpp"
#include "python/interop/exchange.hpp"
#include "python/interop/foreign_description.hpp"
#include "python/support/c_api.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/python/binding.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

constinit const AttributeName ufunc_name("__array_ufunc__");
constinit const AttributeName priority_name("__array_priority__");
constinit const AttributeName dask_name("__dask_graph__");
constinit const AttributeName to_numpy_name("to_numpy");

// The attribute `name` of the object's class (borrowed), or null. _PyType_Lookup() is cached by
// CPython, and does not raise for the many classes without the attribute.
PyObject* class_attribute(PyObject* object, const AttributeName& name) noexcept {
  return _PyType_Lookup(Py_TYPE(object), name.get());
}

// The bridge of the library whose array `object` is; null for other objects.
const Bridge* library_of(PyObject* object) {
  const auto is_library = [](const Bridge* bridge) {
    return bridge->priority() == BridgePriority::library;
  };
  if (const Bridge* bridge = bridge_of_type(Py_TYPE(object)))
    return is_library(bridge) ? bridge : nullptr;
  for (const Bridge* bridge : registered_bridges())
    if (is_library(bridge) && bridge->accepts(object)) return bridge;
  return nullptr;
}

// Whether `attribute` of the object's class is not a library's: of an array of a library, whether a
// subclass replaces that of the class that the bridge lists. (That JAX's class of arrays has a
// priority, and jax.Array has none, does not count.)
bool is_own(PyObject* object, const AttributeName& name, const PyObject* attribute) {
  const Bridge* library = library_of(object);
  if (library == nullptr) return true;
  PyObject* listed = library->listed_class();
  if (listed == nullptr || !PyType_Check(listed)) return false;
  auto* base = reinterpret_cast<PyTypeObject*>(listed);
  const PyObject* replaced = _PyType_Lookup(base, name.get());
  return replaced != nullptr && replaced != attribute &&
         PyType_IsSubtype(Py_TYPE(object), base) != 0;
}

double priority_of(PyObject* object) noexcept {
  const py::object priority = attribute_or_null(object, priority_name);
  const double value = priority ? PyFloat_AsDouble(priority.ptr()) : 0.0;
  PyErr_Clear();
  return value;
}

bool has_higher_priority(PyObject* object) {
  const PyObject* priority = class_attribute(object, priority_name);
  return priority != nullptr && is_own(object, priority_name, priority) &&
         priority_of(object) > 0.0;
}

PyObject* overrides(PyObject* object) {
  return PyBool_FromLong(!is_array(object) && overrides_ufuncs(object));
}

}  // namespace

bool takes_operators(PyObject* other) {
  if (is_variable(other)) return true;
  const PyObject* ufunc = class_attribute(other, ufunc_name);
  if (ufunc == Py_None) return true;
  return (ufunc != nullptr && is_own(other, ufunc_name, ufunc)) || has_higher_priority(other);
}

bool declines_operand(PyObject* other) {
  if (other == Py_None || PyUnicode_Check(other) || PyBytes_Check(other) || PyDict_Check(other))
    return true;
  return takes_operators(other);
}

bool overrides_ufuncs(PyObject* object) {
  if (is_variable(object)) return false;  // not foreign, though its class has __array_ufunc__
  const PyObject* ufunc = class_attribute(object, ufunc_name);
  return ufunc != nullptr && ufunc != Py_None && is_own(object, ufunc_name, ufunc);
}

bool is_lazy(PyObject* object) noexcept {
  if (const py::object graph = attribute_or_null(object, dask_name)) {
    const auto value = py::reinterpret_steal<py::object>(PyObject_CallNoArgs(graph.ptr()));
    PyErr_Clear();
    if (value && !value.is_none()) return true;
  }
  const PyObject* ufunc = class_attribute(object, ufunc_name);
  return ufunc != nullptr && ufunc != Py_None && class_attribute(object, to_numpy_name) == nullptr;
}

SW_BIND(foreign_operands) {
  static PyMethodDef functions[] = {
      declared<"_overrides_ufuncs(x, /)",
               "Whether the class of a foreign object implements __array_ufunc__ itself.",
               &overrides>(),
      {}};
  add_functions(module, functions);
}

}  // namespace spanwise::python
