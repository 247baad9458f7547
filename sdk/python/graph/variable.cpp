// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "variable.hpp"

#include <structmember.h>

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "apply.hpp"
#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/call.hpp"
#include "python/support/type.hpp"

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

void variable_dealloc(PyObject* object) noexcept {
  auto* self = reinterpret_cast<PyVariable*>(object);
  if (self->weakrefs != nullptr) PyObject_ClearWeakRefs(object);
  if (const auto state = static_cast<PythonState*>(self->variable.attachment().get()))
    if (state->wrapper == object) state->wrapper = nullptr;
  self->variable.~Variable();
  free_object(object);
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

PyObject* label(PyObject* self) { return py::str(variable_in(self).label()).release().ptr(); }

py::object get_broadcastable(PyObject* self) {
  return py::cast(variable_in(self).type()).attr("broadcastable");
}
py::object get_variable_name(PyObject* self) {
  const std::string& name = variable_in(self).name();
  if (name.empty()) return py::none();
  return py::str(name);
}
int set_variable_name(PyObject* self, PyObject* value, void*) {
  variable_in(self).set_name(given(value) ? std::string(text_in(value)) : "");
  return 0;
}
py::object get_owner(PyObject* self) {
  Apply* owner = variable_in(self).owner();
  if (owner == nullptr) return py::none();
  return py::cast(Ref<Apply>(owner));
}
py::object get_index(PyObject* self) {
  if (variable_in(self).owner() == nullptr) return py::none();
  return py::int_(variable_in(self).index());
}
py::object get_data(PyObject* self) { return py::cast(*variable_in(self).value()); }

PyGetSetDef variable_attributes[] = {
    attribute<[](PyObject* self) { return py::cast(variable_in(self).type()); }>("type",
                                                                                 "Its TensorType."),
    attribute<[](PyObject* self) { return dtype_object(variable_in(self).type().dtype()); }>(
        "dtype"),
    attribute<[](PyObject* self) { return py::int_(variable_in(self).type().rank()); }>("ndim"),
    attribute<&get_broadcastable>("broadcastable", "Which axes have the fixed extent 1."),
    attribute<&get_variable_name, &set_variable_name>("name", "A str or None."),
    attribute<&get_owner>("owner", "The Apply that computes it, or None."),
    attribute<&get_index>("index", "Its index among the owner's outputs; None without an owner."),
    attribute<[](PyObject* self) { return tag_of(variable_in(self).attachment()); }>(
        "tag", "A namespace for attributes that programs add."),
    {}};

PyGetSetDef constant_attributes[] = {attribute<&get_data>("data", "The value, a read-only Array."),
                                     attribute<&get_data>("value", "The value, a read-only Array."),
                                     {}};

PyMemberDef variable_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyVariable, weakrefs), READONLY, nullptr}, {}};

PyTypeObject* type_for(const Variable& variable) noexcept {
  if (variable.value() != nullptr) return constant_type;
  return variable.container() != nullptr ? shared_type : variable_type;
}

PyTypeObject* make_variable_type(const char* name, const char* doc, std::vector<PyType_Slot> slots,
                                 PyTypeObject* base) {
  slots.push_back({Py_tp_doc, const_cast<char*>(doc)});
  return make_type(name, sizeof(PyVariable), std::move(slots),
                   Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, base);
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
  std::vector<PyType_Slot> slots{slot(Py_tp_dealloc, variable_dealloc),
                                 slot(Py_tp_richcompare, variable_richcompare),
                                 slot(Py_tp_hash, hash),
                                 slot(Py_tp_str, guarded<&label>),
                                 slot(Py_tp_repr, guarded<&label>),
                                 slot(Py_nb_bool, refuse_bool),
                                 {Py_tp_getset, variable_attributes},
                                 {Py_tp_members, variable_members}};
  for (const PyType_Slot* more : {variable_number_slots, variable_item_slots})
    for (; more->slot != 0; ++more) slots.push_back(*more);
  variable_type = make_variable_type(
      "spanwise.Variable", "A symbolic value: an input, a constant, or an output of an op.", slots,
      nullptr);
  constant_type = make_variable_type("spanwise.Constant", "A variable whose value is known.",
                                     {{Py_tp_getset, constant_attributes}}, variable_type);
  shared_type = make_variable_type(
      "spanwise.SharedVariable", "A variable with a value that functions read and update.",
      {{Py_tp_methods, shared_methods}, {Py_tp_getset, shared_attributes}}, variable_type);
  add_type(module, "SharedVariable", shared_type);
  add_type(module, "Variable", variable_type);
  add_type(module, "Constant", constant_type);
}

}  // namespace spanwise::python
