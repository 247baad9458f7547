// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <algorithm>
#include <string>
#include <vector>

#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/call.hpp"

/// Elementwise methods of arrays, and __array_ufunc__, which NumPy's ufuncs call.
namespace spanwise::python {

namespace py = pybind11;

namespace {

py::object function_of_module(const char* name) {
  return py::module_::import("spanwise._numpy.elementwise").attr(name);
}

// Calls a function of spanwise._numpy.elementwise with the array as first argument. The function is
// cached, since a lookup would dominate calls on small arrays.
template <int N>
struct FunctionName {
  char text[N];
  constexpr FunctionName(const char (&name)[N]) { std::copy_n(name, N, text); }
};
template <FunctionName name>
PyObject* call_with_array(PyObject* self, PyObject* const* values, Py_ssize_t count,
                          PyObject* kwnames) {
  static PyObject* function = nullptr;  // under the GIL
  if (function == nullptr) function = function_of_module(name.text).release().ptr();
  const Py_ssize_t all = count + (kwnames != nullptr ? PyTuple_GET_SIZE(kwnames) : 0);
  std::vector<PyObject*> given{self};
  given.insert(given.end(), values, values + all);
  PyObject* result =
      PyObject_Vectorcall(function, given.data(), static_cast<std::size_t>(count + 1), kwnames);
  if (result == nullptr) throw py::error_already_set();
  return result;
}

PyObject* array_ufunc_method(PyObject*, PyObject* args, PyObject* kwargs) {
  const py::tuple given = py::reinterpret_borrow<py::tuple>(args);
  if (given.size() < 2) throw py::type_error("__array_ufunc__ needs a ufunc and a method");
  const py::dict options =
      kwargs != nullptr ? py::dict(py::reinterpret_borrow<py::dict>(kwargs)) : py::dict();
  return py::module_::import("spanwise._numpy.array_ufunc")
      .attr("array_ufunc")(given[0], given[1], given[py::slice(2, py::ssize_t(given.size()), 1)],
                           options)
      .release()
      .ptr();
}

// Of "real" or "imag".
template <FunctionName name>
PyObject* get_part(PyObject* self, void*) {
  return function_of_module(name.text)(py::handle(self)).release().ptr();
}
template <FunctionName name>
int set_part(PyObject* self, PyObject* value, void*) {
  const std::string who = std::string("Array.") + name.text;
  if (value == nullptr) throw py::attribute_error(who + " cannot be deleted");
  if (name.text[0] == 'i' && !array_in(self).dtype().is_complex())
    throw py::type_error(who + ": a real array has no imaginary part to assign to");
  const py::object part = function_of_module(name.text)(py::handle(self));
  return PyObject_SetItem(part.ptr(), Py_Ellipsis, value);
}

// As in NumPy, the method returns a real array itself; the function returns a new one.
PyObject* array_conj(PyObject* self, PyObject*) {
  if (!array_in(self).dtype().is_complex()) return Py_NewRef(self);
  return py::module_::import("spanwise._core").attr("conjugate")(py::handle(self)).release().ptr();
}

PyMethodDef elementwise_methods[] = {
    method<&call_with_array<"clip">>("clip",
                                     "clip($self, min=None, max=None, out=None)\n--\n\n"
                                     "Limited to [min, max], as numpy.ndarray.clip."),
    method<&call_with_array<"round">>("round",
                                      "round($self, decimals=0, out=None)\n--\n\n"
                                      "Rounded to `decimals` places, halves to even, as "
                                      "numpy.ndarray.round."),
    method<&call_with_array<"round">>("__round__",
                                      "__round__($self, decimals=0)\n--\n\nround(self)"),
    {"conj", guarded<&array_conj>, METH_NOARGS, "The complex conjugate."},
    {"conjugate", guarded<&array_conj>, METH_NOARGS, "The complex conjugate."},
    {"__array_ufunc__", as_c_function(guarded<&array_ufunc_method>), METH_VARARGS | METH_KEYWORDS,
     "Makes NumPy's ufuncs return Spanwise arrays for Spanwise arrays."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef elementwise_attributes[] = {
    {"real", guarded<&get_part<"real">>, guarded<&set_part<"real">>,
     "The real part, a view of a complex array.", nullptr},
    {"imag", guarded<&get_part<"imag">>, guarded<&set_part<"imag">>,
     "The imaginary part, a view of a complex array.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

SW_BIND(array_ufunc, array_type) {
  add_array_methods(elementwise_methods);
  add_array_attributes(elementwise_attributes);
}

}  // namespace spanwise::python
