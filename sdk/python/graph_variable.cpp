// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph_variable.hpp"

#include <structmember.h>

#include <new>
#include <string>
#include <vector>

#include "bind.hpp"
#include "graph_apply.hpp"
#include "graph_errors.hpp"
#include "py_array.hpp"

namespace spanwise::python {

namespace py = pybind11;

PyTypeObject* variable_type = nullptr;
PyTypeObject* constant_type = nullptr;
PyTypeObject* shared_type = nullptr;

namespace {

/// What Python keeps with a node of the graph.
struct Face {
  PyObject* wrapper = nullptr;  ///< the live wrapper, not counted
  SharedObject tag;
};

Face& face_in(std::shared_ptr<void>& attachment) {
  if (attachment == nullptr) attachment = std::make_shared<Face>();
  return *static_cast<Face*>(attachment.get());
}

PyObject* text_object(const std::string& text) noexcept {
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

void dealloc(PyObject* object) noexcept {
  auto* self = reinterpret_cast<PyVariable*>(object);
  PyTypeObject* type = Py_TYPE(object);
  if (self->weakrefs != nullptr) PyObject_ClearWeakRefs(object);
  if (const auto face = static_cast<Face*>(self->variable.attachment().get()))
    if (face->wrapper == object) face->wrapper = nullptr;
  self->variable.~Variable();
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject* compare(PyObject* self, PyObject* other, int operation) noexcept {
  if (operation != Py_EQ && operation != Py_NE) return compare_variables(self, other, operation);
  if (!is_variable(other)) Py_RETURN_NOTIMPLEMENTED;
  const bool same = variable_in(self) == variable_in(other);
  return PyBool_FromLong(same == (operation == Py_EQ));
}

Py_hash_t hash(PyObject* self) noexcept {
  const auto hash = static_cast<Py_hash_t>(std::hash<Variable>()(variable_in(self)) >> 4);
  return hash == -1 ? -2 : hash;
}

int refuse_bool(PyObject* self) noexcept {
  PyErr_Format(PyExc_TypeError,
               "%s has no value yet, so it is neither true nor false; compile it with function(), "
               "or ask it.eval({...})",
               variable_in(self).label().c_str());
  return -1;
}

// An attribute from an expression that may throw.
template <class F>
PyObject* as_python(F&& f) noexcept {
  try {
    return py::object(f()).release().ptr();
  } catch (...) {
    return raise_graph_error();
  }
}

PyObject* label(PyObject* self) noexcept {
  return as_python([&] { return py::str(variable_in(self).label()); });
}

PyObject* get_type(PyObject* self, void*) noexcept {
  return as_python([&] { return py::cast(variable_in(self).type()); });
}
PyObject* get_dtype(PyObject* self, void*) noexcept {
  return as_python([&] { return dtype_object(variable_in(self).type().dtype()); });
}
PyObject* get_broadcastable(PyObject* self, void*) noexcept {
  return as_python([&] { return py::cast(variable_in(self).type()).attr("broadcastable"); });
}
PyObject* get_ndim(PyObject* self, void*) noexcept {
  return PyLong_FromLong(variable_in(self).type().rank());
}
PyObject* get_variable_name(PyObject* self, void*) noexcept {
  const std::string& name = variable_in(self).name();
  if (name.empty()) Py_RETURN_NONE;
  return text_object(name);
}
int set_variable_name(PyObject* self, PyObject* value, void*) noexcept {
  if (value == nullptr || value == Py_None) {
    variable_in(self).set_name("");
    return 0;
  }
  const char* text = PyUnicode_AsUTF8(value);
  if (text == nullptr) return -1;
  variable_in(self).set_name(text);
  return 0;
}
PyObject* get_owner(PyObject* self, void*) noexcept {
  return as_python([&]() -> py::object {
    Apply* owner = variable_in(self).owner();
    if (owner == nullptr) return py::none();
    return py::cast(Ref<Apply>(owner));
  });
}
PyObject* get_index(PyObject* self, void*) noexcept {
  if (variable_in(self).owner() == nullptr) Py_RETURN_NONE;
  return PyLong_FromLong(variable_in(self).index());
}
PyObject* get_tag(PyObject* self, void*) noexcept {
  return as_python([&] { return tag_of(variable_in(self).attachment()); });
}
PyObject* get_data(PyObject* self, void*) noexcept {
  return as_python([&] { return py::cast(*variable_in(self).value()); });
}

// Methods that spanwise._variable has as functions: name(self, ...).
template <const char* function>
PyObject* forward(PyObject* self, PyObject* arguments, PyObject* keywords) noexcept {
  return as_python([&] {
    py::tuple all(1 + PyTuple_GET_SIZE(arguments));
    all[0] = py::reinterpret_borrow<py::object>(self);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arguments); ++i)
      all[static_cast<std::size_t>(i + 1)] = py::handle(PyTuple_GET_ITEM(arguments, i));
    const py::object target = py::module_::import("spanwise._variable").attr(function);
    PyObject* result = PyObject_Call(target.ptr(), all.ptr(), keywords);
    if (result == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(result);
  });
}

// Attributes that spanwise._variable has as functions of the variable.
template <const char* function>
PyObject* forward_attribute(PyObject* self, void*) noexcept {
  return as_python(
      [&] { return py::module_::import("spanwise._variable").attr(function)(py::handle(self)); });
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
    return as_python(
        [&] { return py::module_::import("spanwise._variable").attr("items")(py::handle(self)); });
  PyErr_Format(PyExc_TypeError,
               "%s cannot be iterated over: its first extent is not fixed. Perhaps sum, min, max, "
               "any or all of Python was called, where the method or T.sum was meant",
               variable_in(self).label().c_str());
  return nullptr;
}

PyObject* reduce(PyObject* self, PyObject*) noexcept {
  return as_python([&] {
    return py::module_::import("spanwise._graph_pickle").attr("reduce_variable")(py::handle(self));
  });
}

PyObject* subscript(PyObject* self, PyObject* key) noexcept {
  return as_python([&] {
    return py::module_::import("spanwise._variable")
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
                     "The value, given those of the inputs: z.eval({x: 1.0})."),
    forwarded<transfer_>("transfer",
                         "transfer($self, target, /)\n--\n\n"
                         "The value on another device: a name or a spanwise.device."),
    forwarded<dot_>("dot", "dot($self, other, /)\n--\n\nspanwise.dot(self, other)."),
    forwarded<clone_>("clone",
                      "clone($self, name=None, /)\n--\n\n"
                      "A new variable of the same type, without an owner."),
    forwarded<reshape_>(
        "reshape",
        "reshape($self, *shape, ndim=None)\n--\n\n"
        "The same elements in C order under another shape, of numbers and variables "
        "of the graph, or one vector of these; one extent may be -1."),
    forwarded<transpose_>("transpose",
                          "transpose($self, *axes)\n--\n\n"
                          "View with the axes in another order, reversed unless told."),
    forwarded<dimshuffle_>("dimshuffle",
                           "dimshuffle($self, *pattern)\n--\n\n"
                           "View with the axes in this order, 'x' standing for a new one of extent "
                           "1; axes left out must have that extent."),
    forwarded<swapaxes_>("swapaxes",
                         "swapaxes($self, axis1, axis2)\n--\n\nView with two axes exchanged."),
    forwarded<squeeze_>("squeeze",
                        "squeeze($self, axis=None)\n--\n\n"
                        "View without the axes named, whose extent must be 1; unless told, without "
                        "those that are known to have it."),
    forwarded<ravel_>("ravel", "ravel($self, order='C')\n--\n\nOne axis, in C order."),
    forwarded<flatten_>("flatten",
                        "flatten($self, ndim=1)\n--\n\n"
                        "`ndim` axes in C order: the last is all that are too many."),
    forwarded<broadcast_to_>("broadcast_to",
                             "broadcast_to($self, shape)\n--\n\n"
                             "View of that shape, of numbers and variables."),
    forwarded<astype_>("astype",
                       "astype($self, dtype, copy=True)\n--\n\n"
                       "Cast to a dtype; the variable itself where it has it."),
    forwarded<take_>("take",
                     "take($self, indices, axis=None)\n--\n\n"
                     "The slices along `axis` that integers name, of the flattened value unless "
                     "told."),
    forwarded<clip_>("clip", "clip($self, min=None, max=None)\n--\n\nLimited to [min, max]."),
    forwarded<round_>("round", "round($self, decimals=0)\n--\n\nRounded, halves to even."),
    forwarded<conj_>("conj", "conj($self)\n--\n\nThe complex conjugate."),
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    forwarded<array_>(
        "__array__",
        "__array__($self, dtype=None, copy=None)\n--\n\nRefused: it has no value yet."),
    forwarded<array_function_>("__array_function__",
                               "numpy.<function>(variable): a node of the graph."),
    forwarded<array_ufunc_>("__array_ufunc__", "numpy.<ufunc>(variable): a node of the graph."),
    {}};

PyGetSetDef variable_attributes[] = {
    {"type", get_type, nullptr, "Its TensorType.", nullptr},
    {"dtype", get_dtype, nullptr, nullptr, nullptr},
    {"ndim", get_ndim, nullptr, nullptr, nullptr},
    {"broadcastable", get_broadcastable, nullptr, "Which axes have the fixed extent 1.", nullptr},
    {"name", get_variable_name, set_variable_name, "A str or None.", nullptr},
    {"owner", get_owner, nullptr, "The Apply that computes it, or None.", nullptr},
    {"index", get_index, nullptr, "Which of the owner's outputs it is; None without one.", nullptr},
    {"tag", get_tag, nullptr, "A scratchpad for variable_attributes of your own.", nullptr},
    {"shape", forward_attribute<shape_>, nullptr,
     "Its extents, a vector of int64 on the host: shape[0] is a variable.", nullptr},
    {"size", forward_attribute<size_>, nullptr, "The number of elements, a variable.", nullptr},
    {"T", forward_attribute<transpose_>, nullptr, "View with all axes reversed.", nullptr},
    {"mT", forward_attribute<matrix_transpose_>, nullptr, "View with the last two axes exchanged.",
     nullptr},
    {}};

PyGetSetDef constant_attributes[] = {
    {"data", get_data, nullptr, "The value, a read-only Array.", nullptr},
    {"value", get_data, nullptr, "The value, a read-only Array.", nullptr},
    {}};

PyMemberDef variable_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyVariable, weakrefs), READONLY, nullptr}, {}};

PyTypeObject* type_for(const Variable& variable) noexcept {
  if (variable.value() != nullptr) return constant_type;
  return variable.container() != nullptr ? shared_type : variable_type;
}

PyTypeObject* make_type(const char* name, const char* doc, std::vector<PyType_Slot> slots,
                        PyTypeObject* base) {
  slots.push_back({Py_tp_doc, const_cast<char*>(doc)});
  slots.push_back({0, nullptr});
  PyType_Spec spec{name, sizeof(PyVariable), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                   slots.data()};
  PyObject* type = PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject*>(base));
  if (type == nullptr) throw py::error_already_set();
  return reinterpret_cast<PyTypeObject*>(type);
}

}  // namespace

PyObject* wrap_variable(const Variable& variable) noexcept {
  try {
    Face& face = face_in(variable.attachment());
    if (face.wrapper != nullptr) return Py_NewRef(face.wrapper);
    PyTypeObject* type = type_for(variable);
    auto* self = reinterpret_cast<PyVariable*>(type->tp_alloc(type, 0));
    if (self == nullptr) return nullptr;
    new (&self->variable) Variable(variable);
    face.wrapper = reinterpret_cast<PyObject*>(self);
    return face.wrapper;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

py::object tag_of(std::shared_ptr<void>& attachment) {
  SharedObject& tag = face_in(attachment).tag;
  if (tag == nullptr) tag = share_object(py::module_::import("types").attr("SimpleNamespace")());
  return py::reinterpret_borrow<py::object>(tag.get());
}

void add_variable_methods(PyMethodDef* methods) {
  for (; methods->ml_name != nullptr; ++methods) {
    PyObject* descriptor = PyDescr_NewMethod(variable_type, methods);
    if (descriptor == nullptr) throw py::error_already_set();
    py::setattr(reinterpret_cast<PyObject*>(variable_type), methods->ml_name,
                py::reinterpret_steal<py::object>(descriptor));
  }
}

SW_BIND(graph_variable, 81) {
  std::vector<PyType_Slot> slots{{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                                 {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
                                 {Py_tp_hash, reinterpret_cast<void*>(hash)},
                                 {Py_tp_str, reinterpret_cast<void*>(label)},
                                 {Py_tp_repr, reinterpret_cast<void*>(label)},
                                 {Py_nb_bool, reinterpret_cast<void*>(refuse_bool)},
                                 {Py_mp_subscript, reinterpret_cast<void*>(subscript)},
                                 {Py_mp_length, reinterpret_cast<void*>(length)},
                                 {Py_tp_iter, reinterpret_cast<void*>(iterate)},
                                 {Py_tp_methods, variable_methods},
                                 {Py_tp_getset, variable_attributes},
                                 {Py_tp_members, variable_members}};
  for (const PyType_Slot* slot = variable_number_slots; slot->slot != 0; ++slot)
    slots.push_back(*slot);
  variable_type = make_type("spanwise.Variable",
                            "A value that a graph will compute, is given, or holds as a constant.",
                            slots, nullptr);
  constant_type = make_type("spanwise.Constant", "A variable whose value is known.",
                            {{Py_tp_getset, constant_attributes}}, variable_type);
  shared_type = make_type(
      "spanwise.SharedVariable", "A variable with a value that functions read and update.",
      {{Py_tp_methods, shared_methods}, {Py_tp_getset, shared_attributes}}, variable_type);
  module.add_object("SharedVariable",
                    py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(shared_type)));
  module.add_object("Variable",
                    py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(variable_type)));
  module.add_object("Constant",
                    py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(constant_type)));
}

}  // namespace spanwise::python
