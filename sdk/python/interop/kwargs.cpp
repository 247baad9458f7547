// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "kwargs.hpp"

#include <pybind11/pybind11.h>

#include <string>

#include "spanwise/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

PyObject*& place_of(const char* who, PyObject* name, std::initializer_list<KeywordArg> words) {
  std::string known;
  for (const KeywordArg& word : words) {
    if (PyUnicode_CompareWithASCIIString(name, word.name) == 0) return *word.value;
    known += (known.empty() ? "" : ", ") + std::string(word.name);
  }
  throw py::type_error(
      text(who, "() has no argument \"", std::string(py::str(name)), "\"; it has ", known));
}

bool truth(PyObject* object) {
  const int result = PyObject_IsTrue(object);
  if (result < 0) throw py::error_already_set();
  return result == 1;
}

}  // namespace

void parse_kwargs(const char* who, PyObject* const* values, Py_ssize_t count, PyObject* names,
                  Py_ssize_t first, std::initializer_list<KeywordArg> words) {
  if (count != first) {
    throw py::type_error(text(who, "() takes ", first, " positional arguments, got ", count));
  }
  for (const KeywordArg& word : words) *word.value = nullptr;
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject*& place = place_of(who, PyTuple_GET_ITEM(names, i), words);
    if (PyObject* value = values[count + i]; value != Py_None) place = value;
  }
}

CopyMode copy_mode_in(PyObject* copy) {
  if (copy == nullptr) return CopyMode::if_needed;
  return truth(copy) ? CopyMode::always : CopyMode::never;
}

CopyMode copyif_mode_in(PyObject* copyif) {
  return copyif != nullptr && truth(copyif) ? CopyMode::if_needed : CopyMode::never;
}

}  // namespace spanwise::python
