// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <vector>

#include "spanwise/python/binding.hpp"

/// Types that CPython makes from slots, which are faster than pybind11's classes.
namespace spanwise::python {

/// A new type of objects of `size` bytes. `name` and the tables in `slots` must live as long as the
/// process; the slots end without an empty entry. Throws error_already_set.
PyTypeObject* make_type(const char* name, std::size_t size, std::vector<PyType_Slot> slots,
                        unsigned long flags = Py_TPFLAGS_DISALLOW_INSTANTIATION,
                        PyTypeObject* base = nullptr);

/// Makes the type known as `name` in the module.
void add_type(pybind11::module_& module, const char* name, PyTypeObject* type);

/// Adds methods or attributes to a type. The tables end with an empty entry and must live as long
/// as the process.
void add_methods(PyTypeObject* type, PyMethodDef* methods);
void add_attributes(PyTypeObject* type, PyGetSetDef* attributes);

/// The end of tp_dealloc: frees the memory of an object whose fields are destroyed.
inline void free_object(PyObject* object) noexcept {
  PyTypeObject* type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);  // instances own a reference to their heap type
}

/// An entry of a table of attributes. get(self) returns a new reference or a pybind11 object.
/// set(self, value, nullptr) returns 0; `value` is null for `del`. Both may throw.
template <auto get>
PyGetSetDef attribute(const char* name, const char* doc = nullptr) {
  return {name, guarded<&detail::result_of<get, void>>, nullptr, doc, nullptr};
}
template <auto get, int (*set)(PyObject*, PyObject*, void*)>
PyGetSetDef attribute(const char* name, const char* doc = nullptr) {
  return {name, guarded<&detail::result_of<get, void>>, guarded<set>, doc, nullptr};
}

}  // namespace spanwise::python
