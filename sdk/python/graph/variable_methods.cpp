// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include "spanwise/python/binding.hpp"
#include "python/support/python_function.hpp"
#include "python/support/type.hpp"
#include "variable.hpp"

/// The array methods of variables. They are implemented in spanwise.graph._variable, as functions
/// whose first argument is the variable.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// The attribute spanwise.graph._variable.<function>(self).
template <Literal function>
PyGetSetDef forwarded_attribute(const char* name, const char* doc) {
  return attribute<&result_in_python<"graph._variable", function>>(name, doc);
}

// The first extent; -1 with a TypeError, the variable's label followed by `problem`, if it is not
// fixed.
Py_ssize_t fixed_length(PyObject* self, const char* problem) noexcept {
  const Shape& shape = variable_in(self).type().shape();
  if (!shape.empty() && shape[0] != TensorType::any) return shape[0];
  PyErr_Format(PyExc_TypeError, "%s %s", variable_in(self).label().c_str(), problem);
  return -1;
}

Py_ssize_t length(PyObject* self) noexcept {
  return fixed_length(self,
                      "has no length yet: its first extent is not fixed. Ask for x.shape[0], a "
                      "variable of the graph");
}

PyObject* iterate(PyObject* self) {
  const bool is_fixed =
      fixed_length(self,
                   "cannot be iterated over: its first extent is not fixed. Perhaps sum, min, max, "
                   "any or all of Python was called, where the method or T.sum was meant") >= 0;
  return is_fixed ? result_in_python<"graph._variable", "items">(self) : nullptr;
}

PyObject* subscript(PyObject* self, PyObject* key) {
  return call_with_self(python_function<"graph._variable", "getitem">(), self, &key, 1);
}

PyMethodDef variable_methods[] = {
    in_python<"graph._variable", "eval($self, inputs_to_values=None, /)",
              "The value for given values of the inputs: z.eval({x: 1.0}).", "evaluate">(),
    in_python<"graph._variable", "transfer($self, target, /)",
              "The variable copied to a device (a name or a spanwise.device).">(),
    in_python<"graph._variable", "dot($self, other, /)", "spanwise.dot(self, other).">(),
    in_python<"graph._variable", "clone($self, name=None, /)",
              "A new variable of the same type, without an owner.">(),
    in_python<"graph._variable", "reshape($self, *shape, ndim=None)",
              "The elements in another shape, in C order. Extents are integers or variables, or "
              "one vector of them; one may be -1. `ndim` is the rank of the result.">(),
    in_python<"graph._variable", "transpose($self, *axes)",
              "View with the axes in the given order, by default reversed.">(),
    in_python<"graph._variable", "dimshuffle($self, *pattern)",
              "View with the axes in the given order; 'x' is a new axis of extent 1. Axes that are "
              "left out must have extent 1.">(),
    in_python<"graph._variable", "swapaxes($self, axis1, axis2)",
              "View with two axes exchanged.">(),
    in_python<"graph._variable", "squeeze($self, axis=None)",
              "View without the axes `axis`, whose extent must be 1; by default without those "
              "whose type fixes extent 1.">(),
    in_python<"graph._variable", "ravel($self, order='C')", "A vector in C order.">(),
    in_python<"graph._variable", "flatten($self, ndim=1)",
              "Reshaped in C order to `ndim` axes: the last one joins all remaining axes.">(),
    in_python<"graph._variable", "broadcast_to($self, shape)",
              "View broadcast to `shape`, of integers and variables.">(),
    in_python<"graph._variable", "astype($self, dtype, copy=True)",
              "Cast to `dtype`; the variable itself if it has that dtype.">(),
    in_python<
        "graph._variable", "take($self, indices, axis=None)",
        "The slices `indices` along `axis`; without `axis` elements of the flattened variable.">(),
    in_python<"graph._variable", "clip($self, min=None, max=None)", "Limited to [min, max].">(),
    in_python<"graph._variable", "round($self, decimals=0)", "Rounded, halves to even.",
              "round_">(),
    in_python<"graph._variable", "conj($self)", "The complex conjugate.">(),
    in_python<"graph._pickle", "__reduce__($self)", "", "reduce_variable">(),
    in_python<"graph._variable", "__array__($self, dtype=None, copy=None)",
              "Raises TypeError: it has no value.", "refuse_array">(),
    in_python<"graph._variable", "__array_function__($self, func, types, args, kwargs, /)",
              "numpy.<function>(variable): a node of the graph.", "array_function">(),
    in_python<"graph._variable", "__array_ufunc__($self, ufunc, method, *inputs, **options)",
              "numpy.<ufunc>(variable): a node of the graph.", "array_ufunc">(),
    {}};

PyGetSetDef shape_attributes[] = {
    forwarded_attribute<"shape">("shape",
                                 "The shape, an int64 vector on the host; shape[0] is a variable."),
    forwarded_attribute<"size">("size", "The number of elements, a variable."),
    forwarded_attribute<"transpose">("T", "View with all axes reversed."),
    forwarded_attribute<"matrix_transpose">("mT", "View with the last two axes exchanged."),
    {}};

}  // namespace

PyType_Slot variable_item_slots[] = {slot(Py_mp_subscript, guarded<&subscript>),
                                     slot(Py_mp_length, length),
                                     slot(Py_tp_iter, guarded<&iterate>),
                                     {0, nullptr}};

void add_variable_methods(PyMethodDef* methods) { add_methods(variable_type, methods); }

SW_BIND(graph_variable_methods, graph_variable) {
  add_variable_methods(variable_methods);
  add_attributes(variable_type, shape_attributes);
}

}  // namespace spanwise::python
