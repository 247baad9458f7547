// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace spanwise::python {

/// A class of another library, looked up in sys.modules: a type check never imports the library.
/// Installed as spanwise/python/foreign_class.hpp. Needs the GIL.
class ForeignClass {
 public:
  constexpr ForeignClass(const char* module, const char* name) noexcept
      : module_(module), name_(name) {}

  /// The class (borrowed), or null while the module is not imported. Leaves no Python error.
  PyObject* get() const noexcept {
    if (class_ == nullptr) find();
    return class_;
  }

  /// type(object) is class; false while the module is not imported.
  bool is_type_of(PyObject* object) const noexcept {
    return reinterpret_cast<PyObject*>(Py_TYPE(object)) == get();
  }

  /// isinstance(object, class), by type(object) instead of object.__class__ where the class has no
  /// metaclass. Leaves no Python error.
  bool has(PyObject* object) const noexcept {
    PyObject* type = get();
    if (type == nullptr) return false;
    // Faster than isinstance(), which calls Python code for a class with a metaclass, such as
    // torch's.
    if (PyType_Check(type)) {
      if (PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(type))) return true;
      if (PyType_CheckExact(type)) return false;
    }
    const int result = PyObject_IsInstance(object, type);
    if (result < 0) PyErr_Clear();
    return result == 1;
  }

 private:
  void find() const noexcept {
    const auto name = pybind11::reinterpret_steal<pybind11::object>(PyUnicode_FromString(module_));
    const auto module = pybind11::reinterpret_steal<pybind11::object>(
        name ? PyImport_GetModule(name.ptr()) : nullptr);
    // Fails while the module is being imported.
    if (module) class_ = PyObject_GetAttrString(module.ptr(), name_);
    if (class_ == nullptr) PyErr_Clear();
  }

  const char* module_;
  const char* name_;
  mutable PyObject* class_ = nullptr;  // a reference that is never dropped
};

}  // namespace spanwise::python
