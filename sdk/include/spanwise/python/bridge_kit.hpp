// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <span>

#include "spanwise/bridge.hpp"
#include "spanwise/core/interpreter_lock.hpp"

/// What a bridge written with pybind11 needs, in the tree or in a module of its own: attributes of
/// objects, read fast for Bridge::try_describe(); classes of libraries that may not be imported;
/// and references that native code holds. Needs the GIL.
namespace spanwise::python {

/// An attribute name as an interned Python string, created at its first use under the GIL.
class AttributeName {
 public:
  constexpr explicit AttributeName(const char* text) noexcept : text_(text) {}
  const char* text() const noexcept { return text_; }
  PyObject* get() const noexcept {
    if (string_ == nullptr) string_ = PyUnicode_InternFromString(text_);
    return string_;
  }

 private:
  const char* text_;
  mutable PyObject* string_ = nullptr;
};

/// x.<name>, or null if there is none or reading it fails. Leaves no Python error.
inline pybind11::object attribute_or_null(PyObject* object, const AttributeName& name) noexcept {
  PyObject* value = PyObject_GetAttr(object, name.get());
  if (value == nullptr) PyErr_Clear();
  return pybind11::reinterpret_steal<pybind11::object>(value);
}

/// Reads x.<name> with an inline cache of the C getter of the last class, valid while the class is
/// not modified: the lookup takes as long as most getters. Attributes that are not getset
/// descriptors of the class are read by PyObject_GetAttr().
class CachedAttribute {
 public:
  constexpr explicit CachedAttribute(const char* name) noexcept : name_(name) {}
  /// Null if there is no such attribute or reading it fails. Leaves no Python error.
  pybind11::object of(PyObject* object) const noexcept {
    PyTypeObject* type = Py_TYPE(object);
    if (type != type_ || type->tp_version_tag != version_) [[unlikely]]
      find(type);
    if (get_ == nullptr) return attribute_or_null(object, name_);
    PyObject* value = get_(object, closure_);
    if (value == nullptr) PyErr_Clear();
    return pybind11::reinterpret_steal<pybind11::object>(value);
  }

 private:
  void find(PyTypeObject* type) const noexcept {
    // Also assigns the class a version tag, if it has none.
    PyObject* attribute = _PyType_Lookup(type, name_.get());
    const bool is_getset = attribute != nullptr && Py_IS_TYPE(attribute, &PyGetSetDescr_Type) &&
                           PyType_IsSubtype(type, PyDescr_TYPE(attribute)) != 0 &&
                           type->tp_getattro == PyObject_GenericGetAttr;
    const PyGetSetDef* definition =
        is_getset ? reinterpret_cast<PyGetSetDescrObject*>(attribute)->d_getset : nullptr;
    type_ = type;
    version_ = type->tp_version_tag;
    get_ = definition != nullptr && version_ != 0 ? definition->get : nullptr;
    closure_ = definition != nullptr ? definition->closure : nullptr;
  }

  AttributeName name_;
  // The cached class and its tp_version_tag, which CPython changes when the class is modified.
  mutable PyTypeObject* type_ = nullptr;
  mutable unsigned int version_ = 0;
  mutable getter get_ = nullptr;
  mutable void* closure_ = nullptr;
};

/// Writes the integers of the tuple x.<name> to `scratch` and returns their number; -1 if it is no
/// tuple of integers, or too long. Leaves no Python error.
inline int read_integers(PyObject* object, const CachedAttribute& name,
                         std::span<std::int64_t> scratch) noexcept {
  const pybind11::object values = name.of(object);
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

/// int(x.<name>) as an address; 0 if it is absent, None or no integer. Leaves no Python error.
inline std::uintptr_t read_address(PyObject* object, const CachedAttribute& name) noexcept {
  const pybind11::object value = name.of(object);
  if (!value || value.is_none()) return 0;
  const auto number = pybind11::reinterpret_steal<pybind11::object>(PyNumber_Long(value.ptr()));
  void* address = number ? PyLong_AsVoidPtr(number.ptr()) : nullptr;
  if (address == nullptr) PyErr_Clear();
  return reinterpret_cast<std::uintptr_t>(address);
}

/// A class of another library, looked up in sys.modules: a type check never imports the library.
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

/// A new reference to `object` that keeps foreign memory alive. The last array over the memory
/// drops it, on any thread; after the interpreter has ended it is leaked. This and the functions
/// below need the package `spanwise` to be imported.
inline ForeignOwner python_owner(PyObject* object) {
  return ForeignOwner(object_binding().release, Py_NewRef(object));
}

/// A reference to a Python object that may be copied and dropped on any thread, with or without the
/// GIL.
using SharedObject = std::shared_ptr<PyObject>;
inline SharedObject share_object(const pybind11::object& object) {
  return {std::make_shared<ForeignOwner>(python_owner(object.ptr())), object.ptr()};
}

/// Takes a new reference. Throws the Python error that is set if it is null.
inline pybind11::object owned(PyObject* reference) {
  if (reference == nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(reference);
}

/// A new spanwise.Array around `array`, to pass to a function of a library.
inline pybind11::object object_of(const Array& array) {
  return owned(object_binding().wrap(array));
}

}  // namespace spanwise::python
