// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "variable.hpp"

#include <structmember.h>

#include <new>
#include <string>
#include <vector>

#include "apply.hpp"
#include "errors.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"

namespace spanwise::python {

namespace py = pybind11;

PyTypeObject* variable_type = nullptr;
PyTypeObject* constant_type = nullptr;
PyTypeObject* shared_type = nullptr;

namespace {

/// The attachment of a variable or an Apply.
struct PythonState {
  PyObject* wrapper = nullptr;  ///< the live wrapper, a borrowed reference
  SharedObject tag;
};

PythonState& python_state_in(std::shared_ptr<void>& attachment) {
  if (attachment == nullptr) attachment = std::make_shared<PythonState>();
  return *static_cast<PythonState*>(attachment.get());
}

PyObject* text_object(const std::string& text) noexcept {
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

void variable_dealloc(PyObject* object) noexcept {
  auto* self = reinterpret_cast<PyVariable*>(object);
  PyTypeObject* type = Py_TYPE(object);
  if (self->weakrefs != nullptr) PyObject_ClearWeakRefs(object);
  if (const auto state = static_cast<PythonState*>(self->variable.attachment().get()))
    if (state->wrapper == object) state->wrapper = nullptr;
  self->variable.~Variable();
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject* variable_richcompare(PyObject* self, PyObject* other, int operation) noexcept {
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
               "or call its eval({...})",
               variable_in(self).label().c_str());
  return -1;
}

PyObject* label(PyObject* self) noexcept {
  return result_or_error([&] { return py::str(variable_in(self).label()); });
}

PyObject* get_type(PyObject* self, void*) noexcept {
  return result_or_error([&] { return py::cast(variable_in(self).type()); });
}
PyObject* get_dtype(PyObject* self, void*) noexcept {
  return result_or_error([&] { return dtype_object(variable_in(self).type().dtype()); });
}
PyObject* get_broadcastable(PyObject* self, void*) noexcept {
  return result_or_error(
      [&] { return py::object(py::cast(variable_in(self).type()).attr("broadcastable")); });
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
  return result_or_error([&]() -> py::object {
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
  return result_or_error([&] { return tag_of(variable_in(self).attachment()); });
}
PyObject* get_data(PyObject* self, void*) noexcept {
  return result_or_error([&] { return py::cast(*variable_in(self).value()); });
}

PyGetSetDef variable_attributes[] = {
    {"type", get_type, nullptr, "Its TensorType.", nullptr},
    {"dtype", get_dtype, nullptr, nullptr, nullptr},
    {"ndim", get_ndim, nullptr, nullptr, nullptr},
    {"broadcastable", get_broadcastable, nullptr, "Which axes have the fixed extent 1.", nullptr},
    {"name", get_variable_name, set_variable_name, "A str or None.", nullptr},
    {"owner", get_owner, nullptr, "The Apply that computes it, or None.", nullptr},
    {"index", get_index, nullptr, "Its index among the owner's outputs; None without an owner.",
     nullptr},
    {"tag", get_tag, nullptr, "A namespace for attributes of the user's own.", nullptr},
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
    PythonState& state = python_state_in(variable.attachment());
    if (state.wrapper != nullptr) return Py_NewRef(state.wrapper);
    PyTypeObject* type = type_for(variable);
    auto* self = reinterpret_cast<PyVariable*>(type->tp_alloc(type, 0));
    if (self == nullptr) return nullptr;
    new (&self->variable) Variable(variable);
    state.wrapper = reinterpret_cast<PyObject*>(self);
    return state.wrapper;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

py::object tag_of(std::shared_ptr<void>& attachment) {
  SharedObject& tag = python_state_in(attachment).tag;
  if (tag == nullptr) tag = share_object(py::module_::import("types").attr("SimpleNamespace")());
  return py::reinterpret_borrow<py::object>(tag.get());
}

SW_BIND(graph_variable) {
  std::vector<PyType_Slot> slots{{Py_tp_dealloc, reinterpret_cast<void*>(variable_dealloc)},
                                 {Py_tp_richcompare, reinterpret_cast<void*>(variable_richcompare)},
                                 {Py_tp_hash, reinterpret_cast<void*>(hash)},
                                 {Py_tp_str, reinterpret_cast<void*>(label)},
                                 {Py_tp_repr, reinterpret_cast<void*>(label)},
                                 {Py_nb_bool, reinterpret_cast<void*>(refuse_bool)},
                                 {Py_tp_getset, variable_attributes},
                                 {Py_tp_members, variable_members}};
  for (const PyType_Slot* more : {variable_number_slots, variable_item_slots})
    for (; more->slot != 0; ++more) slots.push_back(*more);
  variable_type =
      make_type("spanwise.Variable",
                "A symbolic value: an input, a constant, or an output of an op.", slots, nullptr);
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
