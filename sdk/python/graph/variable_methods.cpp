// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include "python/support/bind.hpp"
#include "python/support/python_function.hpp"
#include "python/support/type.hpp"
#include "variable.hpp"

/// The array methods of variables. They are implemented in spanwise._graph.variable, as functions
/// whose first argument is the variable.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// An entry of the method table: spanwise._graph.variable.<function>(self, ...).
template <Word function>
PyMethodDef forwarded(const char* name, const char* doc) {
  return in_python<"_graph.variable", function>(name, doc);
}

// The attribute spanwise._graph.variable.<function>(self).
template <Word function>
PyGetSetDef forwarded_attribute(const char* name, const char* doc) {
  return attribute<&result_in_python<"_graph.variable", function>>(name, doc);
}

Py_ssize_t length(PyObject* self) noexcept {
  const Shape& shape = variable_in(self).type().shape();
  if (!shape.empty() && shape[0] != TensorType::any) return shape[0];
  PyErr_Format(PyExc_TypeError,
               "%s has no length yet: its first extent is not fixed. Ask for x.shape[0], a "
               "variable of the graph",
               variable_in(self).label().c_str());
  return -1;
}

PyObject* iterate(PyObject* self) {
  const Shape& shape = variable_in(self).type().shape();
  if (!shape.empty() && shape[0] != TensorType::any)
    return result_in_python<"_graph.variable", "items">(self);
  PyErr_Format(PyExc_TypeError,
               "%s cannot be iterated over: its first extent is not fixed. Perhaps sum, min, max, "
               "any or all of Python was called, where the method or T.sum was meant",
               variable_in(self).label().c_str());
  return nullptr;
}

PyObject* subscript(PyObject* self, PyObject* key) {
  return call_with_self(python_function<"_graph.variable", "getitem">(), self, &key, 1);
}

PyMethodDef variable_methods[] = {
    forwarded<"evaluate">("eval",
                          "eval($self, inputs_to_values=None, /)\n--\n\n"
                          "The value for given values of the inputs: z.eval({x: 1.0})."),
    forwarded<"transfer">("transfer",
                          "transfer($self, target, /)\n--\n\n"
                          "The variable copied to a device (a name or a spanwise.device)."),
    forwarded<"dot">("dot", "dot($self, other, /)\n--\n\nspanwise.dot(self, other)."),
    forwarded<"clone">("clone",
                       "clone($self, name=None, /)\n--\n\n"
                       "A new variable of the same type, without an owner."),
    forwarded<"reshape">(
        "reshape",
        "reshape($self, *shape, ndim=None)\n--\n\n"
        "The elements in another shape, in C order. Extents are integers or variables, or one "
        "vector of them; one may be -1. `ndim` is the rank of the result."),
    forwarded<"transpose">("transpose",
                           "transpose($self, *axes)\n--\n\n"
                           "View with the axes in the given order, by default reversed."),
    forwarded<"dimshuffle">("dimshuffle",
                            "dimshuffle($self, *pattern)\n--\n\n"
                            "View with the axes in the given order; 'x' is a new axis of extent 1. "
                            "Axes that are left out must have extent 1."),
    forwarded<"swapaxes">("swapaxes",
                          "swapaxes($self, axis1, axis2)\n--\n\nView with two axes exchanged."),
    forwarded<"squeeze">("squeeze",
                         "squeeze($self, axis=None)\n--\n\n"
                         "View without the axes `axis`, whose extent must be 1; by default without "
                         "those whose type fixes extent 1."),
    forwarded<"ravel">("ravel", "ravel($self, order='C')\n--\n\nA vector in C order."),
    forwarded<"flatten">("flatten",
                         "flatten($self, ndim=1)\n--\n\n"
                         "Reshaped in C order to `ndim` axes: the last one joins all remaining "
                         "axes."),
    forwarded<"broadcast_to">("broadcast_to",
                              "broadcast_to($self, shape)\n--\n\n"
                              "View broadcast to `shape`, of integers and variables."),
    forwarded<"astype">("astype",
                        "astype($self, dtype, copy=True)\n--\n\n"
                        "Cast to `dtype`; the variable itself if it has that dtype."),
    forwarded<"take">("take",
                      "take($self, indices, axis=None)\n--\n\n"
                      "The slices `indices` along `axis`; without `axis` elements of the flattened "
                      "variable."),
    forwarded<"clip">("clip", "clip($self, min=None, max=None)\n--\n\nLimited to [min, max]."),
    forwarded<"round_">("round", "round($self, decimals=0)\n--\n\nRounded, halves to even."),
    forwarded<"conj">("conj", "conj($self)\n--\n\nThe complex conjugate."),
    in_python<"_graph.pickle", "reduce_variable">("__reduce__", nullptr),
    forwarded<"refuse_array">(
        "__array__",
        "__array__($self, dtype=None, copy=None)\n--\n\nRaises TypeError: it has no value."),
    forwarded<"array_function">("__array_function__",
                                "numpy.<function>(variable): a node of the graph."),
    forwarded<"array_ufunc">("__array_ufunc__", "numpy.<ufunc>(variable): a node of the graph."),
    {}};

PyGetSetDef shape_attributes[] = {
    forwarded_attribute<"shape">("shape",
                                 "The shape, an int64 vector on the host; shape[0] is a variable."),
    forwarded_attribute<"size">("size", "The number of elements, a variable."),
    forwarded_attribute<"transpose">("T", "View with all axes reversed."),
    forwarded_attribute<"matrix_transpose">("mT", "View with the last two axes exchanged."),
    {}};

void attach(const char* name, PyObject* descriptor) {
  if (descriptor == nullptr) throw py::error_already_set();
  py::setattr(reinterpret_cast<PyObject*>(variable_type), name,
              py::reinterpret_steal<py::object>(descriptor));
}

}  // namespace

PyType_Slot variable_item_slots[] = {slot(Py_mp_subscript, guarded<&subscript>),
                                     slot(Py_mp_length, length),
                                     slot(Py_tp_iter, guarded<&iterate>),
                                     {0, nullptr}};

void add_variable_methods(PyMethodDef* methods) {
  for (; methods->ml_name != nullptr; ++methods)
    attach(methods->ml_name, PyDescr_NewMethod(variable_type, methods));
}

SW_BIND(graph_variable_methods, graph_variable) {
  add_variable_methods(variable_methods);
  for (PyGetSetDef* attribute = shape_attributes; attribute->name != nullptr; ++attribute)
    attach(attribute->name, PyDescr_NewGetSet(variable_type, attribute));
}

}  // namespace spanwise::python
