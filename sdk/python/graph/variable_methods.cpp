// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include "errors.hpp"
#include "python/support/bind.hpp"
#include "variable.hpp"

/// The array methods of variables. They are implemented in spanwise._graph.variable, as functions
/// whose first argument is the variable.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// A method that calls spanwise._graph.variable.<function>(self, ...).
template <const char* function>
PyObject* forward(PyObject* self, PyObject* arguments, PyObject* keywords) noexcept {
  return result_or_error([&] {
    py::tuple all(1 + PyTuple_GET_SIZE(arguments));
    all[0] = py::reinterpret_borrow<py::object>(self);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arguments); ++i)
      all[static_cast<std::size_t>(i + 1)] = py::handle(PyTuple_GET_ITEM(arguments, i));
    const py::object target = py::module_::import("spanwise._graph.variable").attr(function);
    PyObject* result = PyObject_Call(target.ptr(), all.ptr(), keywords);
    if (result == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(result);
  });
}

// An attribute that calls spanwise._graph.variable.<function>(self).
template <const char* function>
PyObject* forward_attribute(PyObject* self, void*) noexcept {
  return result_or_error([&] {
    return py::module_::import("spanwise._graph.variable").attr(function)(py::handle(self));
  });
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

PyObject* iterate(PyObject* self) noexcept {
  const Shape& shape = variable_in(self).type().shape();
  if (!shape.empty() && shape[0] != TensorType::any)
    return result_or_error([&] {
      return py::module_::import("spanwise._graph.variable").attr("items")(py::handle(self));
    });
  PyErr_Format(PyExc_TypeError,
               "%s cannot be iterated over: its first extent is not fixed. Perhaps sum, min, max, "
               "any or all of Python was called, where the method or T.sum was meant",
               variable_in(self).label().c_str());
  return nullptr;
}

PyObject* reduce(PyObject* self, PyObject*) noexcept {
  return result_or_error([&] {
    return py::module_::import("spanwise._graph.pickle").attr("reduce_variable")(py::handle(self));
  });
}

PyObject* subscript(PyObject* self, PyObject* key) noexcept {
  return result_or_error([&] {
    return py::module_::import("spanwise._graph.variable")
        .attr("getitem")(py::handle(self), py::handle(key));
  });
}

constexpr char eval_[] = "evaluate", clone_[] = "clone", transfer_[] = "transfer", dot_[] = "dot",
               reshape_[] = "reshape", transpose_[] = "transpose", dimshuffle_[] = "dimshuffle",
               swapaxes_[] = "swapaxes", squeeze_[] = "squeeze", ravel_[] = "ravel",
               flatten_[] = "flatten", broadcast_to_[] = "broadcast_to", astype_[] = "astype",
               take_[] = "take", clip_[] = "clip", round_[] = "round_", conj_[] = "conj",
               array_[] = "refuse_array", array_function_[] = "array_function",
               array_ufunc_[] = "array_ufunc", shape_[] = "shape", size_[] = "size",
               matrix_transpose_[] = "matrix_transpose";

template <const char* function>
PyMethodDef forwarded(const char* name, const char* doc) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&forward<function>)),
          METH_VARARGS | METH_KEYWORDS, doc};
}

PyMethodDef variable_methods[] = {
    forwarded<eval_>("eval",
                     "eval($self, inputs_to_values=None, /)\n--\n\n"
                     "The value for given values of the inputs: z.eval({x: 1.0})."),
    forwarded<transfer_>("transfer",
                         "transfer($self, target, /)\n--\n\n"
                         "The variable copied to a device (a name or a spanwise.device)."),
    forwarded<dot_>("dot", "dot($self, other, /)\n--\n\nspanwise.dot(self, other)."),
    forwarded<clone_>("clone",
                      "clone($self, name=None, /)\n--\n\n"
                      "A new variable of the same type, without an owner."),
    forwarded<reshape_>(
        "reshape",
        "reshape($self, *shape, ndim=None)\n--\n\n"
        "The elements in another shape, in C order. Extents are integers or variables, or one "
        "vector of them; one may be -1. `ndim` is the rank of the result."),
    forwarded<transpose_>("transpose",
                          "transpose($self, *axes)\n--\n\n"
                          "View with the axes in the given order, by default reversed."),
    forwarded<dimshuffle_>("dimshuffle",
                           "dimshuffle($self, *pattern)\n--\n\n"
                           "View with the axes in the given order; 'x' is a new axis of extent 1. "
                           "Axes that are left out must have extent 1."),
    forwarded<swapaxes_>("swapaxes",
                         "swapaxes($self, axis1, axis2)\n--\n\nView with two axes exchanged."),
    forwarded<squeeze_>("squeeze",
                        "squeeze($self, axis=None)\n--\n\n"
                        "View without the axes `axis`, whose extent must be 1; by default without "
                        "those whose type fixes extent 1."),
    forwarded<ravel_>("ravel", "ravel($self, order='C')\n--\n\nA vector in C order."),
    forwarded<flatten_>("flatten",
                        "flatten($self, ndim=1)\n--\n\n"
                        "Reshaped in C order to `ndim` axes: the last one joins all remaining "
                        "axes."),
    forwarded<broadcast_to_>("broadcast_to",
                             "broadcast_to($self, shape)\n--\n\n"
                             "View broadcast to `shape`, of integers and variables."),
    forwarded<astype_>("astype",
                       "astype($self, dtype, copy=True)\n--\n\n"
                       "Cast to `dtype`; the variable itself if it has that dtype."),
    forwarded<take_>("take",
                     "take($self, indices, axis=None)\n--\n\n"
                     "The slices `indices` along `axis`; without `axis` elements of the flattened "
                     "variable."),
    forwarded<clip_>("clip", "clip($self, min=None, max=None)\n--\n\nLimited to [min, max]."),
    forwarded<round_>("round", "round($self, decimals=0)\n--\n\nRounded, halves to even."),
    forwarded<conj_>("conj", "conj($self)\n--\n\nThe complex conjugate."),
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    forwarded<array_>(
        "__array__",
        "__array__($self, dtype=None, copy=None)\n--\n\nRaises TypeError: it has no value."),
    forwarded<array_function_>("__array_function__",
                               "numpy.<function>(variable): a node of the graph."),
    forwarded<array_ufunc_>("__array_ufunc__", "numpy.<ufunc>(variable): a node of the graph."),
    {}};

PyGetSetDef shape_attributes[] = {
    {"shape", forward_attribute<shape_>, nullptr,
     "The shape, an int64 vector on the host; shape[0] is a variable.", nullptr},
    {"size", forward_attribute<size_>, nullptr, "The number of elements, a variable.", nullptr},
    {"T", forward_attribute<transpose_>, nullptr, "View with all axes reversed.", nullptr},
    {"mT", forward_attribute<matrix_transpose_>, nullptr, "View with the last two axes exchanged.",
     nullptr},
    {}};

void attach(const char* name, PyObject* descriptor) {
  if (descriptor == nullptr) throw py::error_already_set();
  py::setattr(reinterpret_cast<PyObject*>(variable_type), name,
              py::reinterpret_steal<py::object>(descriptor));
}

}  // namespace

PyType_Slot variable_item_slots[] = {{Py_mp_subscript, reinterpret_cast<void*>(subscript)},
                                     {Py_mp_length, reinterpret_cast<void*>(length)},
                                     {Py_tp_iter, reinterpret_cast<void*>(iterate)},
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
