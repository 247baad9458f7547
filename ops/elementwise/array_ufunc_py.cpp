// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/declared.hpp"
#include "python/support/python_function.hpp"
#include "python/support/type.hpp"
#include "spanwise/core/error.hpp"

/// Elementwise methods of arrays, and __array_ufunc__, which NumPy's ufuncs call.
namespace spanwise::python {

namespace py = pybind11;

namespace {

py::object array_ufunc_method(PyObject*, PyObject* args, PyObject* kwargs) {
  const py::tuple arguments = py::reinterpret_borrow<py::tuple>(args);
  if (arguments.size() < 2)
    throw py::type_error(text("__array_ufunc__: expected a ufunc, a method and operands, got ",
                              arguments.size(), " arguments"));
  const py::dict options =
      kwargs != nullptr ? py::dict(py::reinterpret_borrow<py::dict>(kwargs)) : py::dict();
  return py::module_::import("spanwise._numpy.array_ufunc")
      .attr("array_ufunc")(arguments[0], arguments[1],
                           arguments[py::slice(2, py::ssize_t(arguments.size()), 1)], options);
}

// The real or imaginary part: the attribute is a function of the same name in Python.
template <Literal name>
PyObject* part(PyObject* self) {
  return result_in_python<"_numpy.elementwise", name>(self);
}

template <Literal name>
int set_part(PyObject* self, PyObject* value, void*) {
  if (value == nullptr) {
    PyErr_Format(PyExc_AttributeError, "Array.%s cannot be deleted", name.text);
    return -1;
  }
  const auto view = py::reinterpret_steal<py::object>(part<name>(self));
  return view ? PyObject_SetItem(view.ptr(), Py_Ellipsis, value) : -1;
}
int set_imag(PyObject* self, PyObject* value, void*) {
  if (array_in(self).dtype().is_complex()) return set_part<"imag">(self, value, nullptr);
  PyErr_SetString(PyExc_TypeError, "Array.imag: a real array has no imaginary part to assign to");
  return -1;
}

// As in NumPy, the method returns a real array itself; the function returns a new one.
PyObject* array_conj(PyObject* self) {
  if (!array_in(self).dtype().is_complex()) return Py_NewRef(self);
  return result_in_python<"_core", "conjugate">(self);
}

PyMethodDef elementwise_methods[] = {
    in_python<"_numpy.elementwise", "clip($self, min=None, max=None, out=None)",
              "Limited to [min, max], as numpy.ndarray.clip.">(),
    in_python<"_numpy.elementwise", "round($self, decimals=0, out=None)",
              "Rounded to `decimals` places, halves to even, as numpy.ndarray.round.">(),
    in_python<"_numpy.elementwise", "__round__($self, decimals=0)", "round(self)", "round">(),
    declared<"conj($self)", "The complex conjugate.", &array_conj>(),
    declared<"conjugate($self)", "The complex conjugate.", &array_conj>(),
    {"__array_ufunc__", as_c_function(guarded<&array_ufunc_method>), METH_VARARGS | METH_KEYWORDS,
     "Makes NumPy's ufuncs return Spanwise arrays for Spanwise arrays."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef elementwise_attributes[] = {
    attribute<&part<"real">, &set_part<"real">>("real",
                                                "The real part, a view of a complex array."),
    attribute<&part<"imag">, &set_imag>("imag", "The imaginary part, a view of a complex array."),
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

SW_BIND(array_ufunc, array_type) {
  add_array_methods(elementwise_methods);
  add_array_attributes(elementwise_attributes);
}

}  // namespace spanwise::python
