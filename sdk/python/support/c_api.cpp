// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/support/c_api.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

using namespace std::literals;

[[noreturn]] void refuse(const std::string& message) {
  PyErr_SetString(PyExc_TypeError, message.c_str());
  throw pybind11::error_already_set();
}

std::string listed(const char* const* names, int size) {
  std::string list;
  for (int i = 0; i < size; ++i) list += (i > 0 ? ", " : "") + std::string(names[i]);
  return list;
}

// Fast path: compact ASCII strings, the common case, are stored as C strings.
bool is_keyword(PyObject* keyword, const char* name) noexcept {
  if (PyUnicode_IS_COMPACT_ASCII(keyword))
    return std::strcmp(reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(keyword)), name) == 0;
  return PyUnicode_CompareWithASCIIString(keyword, name) == 0;
}

int index_of(const char* caller, const char* const* names, int size, PyObject* keyword) {
  for (int i = 0; i < size; ++i) {
    if (is_keyword(keyword, names[i])) return i;
  }
  // numpy.ufunc takes signature= as well as dtype=.
  const bool asks_for_dtype =
      is_keyword(keyword, "signature") &&
      std::any_of(names, names + size, [](const char* name) { return name == "dtype"sv; });
  refuse(text(caller, "() has no argument '", std::string(pybind11::str(keyword)), "'; it has ",
              listed(names, size),
              asks_for_dtype ? "; set the dtype of the computation with dtype=" : ""));
}

}  // namespace

namespace detail {

void read_arguments(const char* caller, const char* const* names, int size, int required,
                    int positional, PyObject** out, PyObject* const* values, Py_ssize_t count,
                    PyObject* kwnames) {
  if (count > positional) {
    if (size == 0) refuse(text(caller, "() takes no arguments, got ", count));
    refuse(text(caller, "() takes at most ", positional, " arguments by position (of ",
                listed(names, size), "), got ", count));
  }
  for (Py_ssize_t i = 0; i < count; ++i) out[i] = values[i];
  const Py_ssize_t named = kwnames != nullptr ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject*& argument = out[index_of(caller, names, size, PyTuple_GET_ITEM(kwnames, i))];
    if (argument != nullptr) {
      refuse(text(caller, "() got '", std::string(pybind11::str(PyTuple_GET_ITEM(kwnames, i))),
                  "' twice, by position and by name"));
    }
    argument = values[count + i];
  }
  for (int i = 0; i < required; ++i) {
    if (out[i] == nullptr) refuse(text(caller, "() needs '", names[i], "'"));
  }
}

}  // namespace detail

std::int64_t integer_or(PyObject* argument, std::int64_t default_value) {
  return given(argument) ? integer_from(argument) : default_value;
}

CopyMode copy_mode_from(PyObject* copy) {
  if (!given(copy)) return CopyMode::if_needed;
  return truth_or(copy, false) ? CopyMode::always : CopyMode::never;
}

CopyMode copyif_mode_from(PyObject* copyif) {
  return truth_or(copyif, false) ? CopyMode::if_needed : CopyMode::never;
}

DType dtype_or(PyObject* argument, DType default_value) {
  return given(argument) ? dtype_from(argument) : default_value;
}

Device device_or(PyObject* argument, Device default_value) {
  return given(argument) ? device_from(argument) : default_value;
}

PyObject* call_with_self(PyObject* function, PyObject* self, PyObject* const* values,
                         Py_ssize_t count, PyObject* kwnames) {
  const Py_ssize_t value_count = count + (kwnames != nullptr ? PyTuple_GET_SIZE(kwnames) : 0);
  std::vector<PyObject*> all{self};
  all.insert(all.end(), values, values + value_count);
  return PyObject_Vectorcall(function, all.data(), static_cast<std::size_t>(count) + 1, kwnames);
}

namespace {

void attach(PyTypeObject* type, const char* name, PyObject* descriptor) {
  py::setattr(reinterpret_cast<PyObject*>(type), name, owned(descriptor));
}

}  // namespace

void add_methods(PyTypeObject* type, PyMethodDef* methods) {
  for (; methods->ml_name != nullptr; ++methods)
    attach(type, methods->ml_name,
           (methods->ml_flags & METH_CLASS) != 0 ? PyDescr_NewClassMethod(type, methods)
                                                 : PyDescr_NewMethod(type, methods));
}

void add_attributes(PyTypeObject* type, PyGetSetDef* attributes) {
  for (; attributes->name != nullptr; ++attributes)
    attach(type, attributes->name, PyDescr_NewGetSet(type, attributes));
}

PyTypeObject* make_type(const char* name, std::size_t size, std::vector<PyType_Slot> slots,
                        unsigned long flags, PyTypeObject* base) {
  slots.push_back({0, nullptr});
  PyType_Spec spec{name, static_cast<int>(size), 0,
                   static_cast<unsigned int>(Py_TPFLAGS_DEFAULT | flags), slots.data()};
  PyObject* bases = reinterpret_cast<PyObject*>(base);
  return reinterpret_cast<PyTypeObject*>(
      owned(PyType_FromSpecWithBases(&spec, bases)).release().ptr());
}

void add_type(py::module_& module, const char* name, PyTypeObject* type) {
  module.add_object(name, py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(type)));
}

}  // namespace spanwise::python
