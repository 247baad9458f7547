// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "declared.hpp"

/// Methods, attributes and slots that are implemented in Python, by functions of the package whose
/// first argument is the object.
namespace spanwise::python {

/// function(self, ...) with the arguments of a METH_FASTCALL | METH_KEYWORDS method: a new
/// reference, or null with a Python error set.
PyObject* call_with_self(PyObject* function, PyObject* self, PyObject* const* values = nullptr,
                         Py_ssize_t count = 0, PyObject* kwnames = nullptr);

/// spanwise.<module>.<function>, a borrowed reference. Imported at the first call and kept, since a
/// lookup would dominate calls on small arrays. Throws the errors of the import.
template <Literal module, Literal function>
PyObject* python_function() {
  static PyObject* cached = nullptr;  // guarded by the GIL, which the import may release
  if (cached == nullptr) {
    static const std::string name = std::string("spanwise.") + module.text;
    const pybind11::object owner = pybind11::module_::import(name.c_str());
    cached = pybind11::object(owner.attr(function.text)).release().ptr();
  }
  return cached;
}

template <Literal module, Literal function>
PyObject* method_in_python(PyObject* self, PyObject* const* values, Py_ssize_t count,
                           PyObject* kwnames) {
  return call_with_self(python_function<module, function>(), self, values, count, kwnames);
}

/// An entry of a method table, of the name in `declaration`, whose function is
/// spanwise.<module>.<function>, by default of the same name.
template <Literal module, Literal declaration, Literal doc,
          Literal function = declared_name<declaration>>
PyMethodDef in_python() {
  return method<&method_in_python<module, function>>(
      declared_name<declaration>.text, detail::documentation<declaration, doc>.data());
}

/// The same as a getter, or a slot without arguments.
template <Literal module, Literal function>
PyObject* result_in_python(PyObject* self) {
  return call_with_self(python_function<module, function>(), self);
}

}  // namespace spanwise::python
