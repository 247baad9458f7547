// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "call.hpp"

/// Methods, attributes and slots that are implemented in Python, by functions of the package whose
/// first argument is the object.
namespace spanwise::python {

/// A name as a template argument.
template <std::size_t n>
struct Word {
  char text[n];
  constexpr Word(const char (&name)[n]) { std::copy_n(name, n, text); }
};

/// function(self, ...) with the arguments of a METH_FASTCALL | METH_KEYWORDS method: a new
/// reference, or null with a Python error set.
PyObject* call_with_self(PyObject* function, PyObject* self, PyObject* const* values = nullptr,
                         Py_ssize_t count = 0, PyObject* kwnames = nullptr);

/// spanwise.<module>.<function>, a borrowed reference. Imported at the first call and kept, since a
/// lookup would dominate calls on small arrays. Throws the errors of the import.
template <Word module, Word function>
PyObject* python_function() {
  static PyObject* found = nullptr;  // under the GIL, which the import may release
  if (found == nullptr) {
    static const std::string name = std::string("spanwise.") + module.text;
    const pybind11::object owner = pybind11::module_::import(name.c_str());
    found = pybind11::object(owner.attr(function.text)).release().ptr();
  }
  return found;
}

template <Word module, Word function>
PyObject* method_in_python(PyObject* self, PyObject* const* values, Py_ssize_t count,
                           PyObject* kwnames) {
  return call_with_self(python_function<module, function>(), self, values, count, kwnames);
}

/// An entry of a method table whose function is spanwise.<module>.<function>.
template <Word module, Word function>
PyMethodDef in_python(const char* name, const char* doc) {
  return method<&method_in_python<module, function>>(name, doc);
}

/// The same as a getter, or a slot without arguments.
template <Word module, Word function>
PyObject* result_in_python(PyObject* self) {
  return call_with_self(python_function<module, function>(), self);
}

}  // namespace spanwise::python
