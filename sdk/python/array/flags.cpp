// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <Python.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/call.hpp"
#include "python/support/type.hpp"
#include "slots.hpp"
#include "spanwise/core/error.hpp"

/// a.flags, as numpy.ndarray.flags: attributes in lower case, and items by NumPy's names. A plain
/// heap type like spanwise.Array, for speed.
namespace spanwise::python {

namespace py = pybind11;

namespace {

struct PyFlags {
  PyObject_HEAD
  PyObject* owner;  // the spanwise.Array
};

PyTypeObject* flags_type = nullptr;

PyObject* owner_in(PyObject* flags) noexcept { return reinterpret_cast<PyFlags*>(flags)->owner; }

bool is_c_contiguous(PyObject* owner) { return array_in(owner).layout().is_row_major(); }
bool is_f_contiguous(PyObject* owner) { return array_in(owner).layout().is_column_major(); }
bool owns_data(PyObject* owner) { return py::handle(owner).attr("base").is_none(); }
bool is_writeable(PyObject* owner) { return !array_in(owner).readonly(); }
bool is_fnc(PyObject* owner) { return is_f_contiguous(owner) && !is_c_contiguous(owner); }
bool is_forc(PyObject* owner) { return is_f_contiguous(owner) || is_c_contiguous(owner); }
bool is_aligned(PyObject* owner) {
  const Array& array = array_in(owner);
  const auto address = reinterpret_cast<std::uintptr_t>(array.data());
  const DType dtype = array.dtype();
  // A complex number has the alignment of its parts.
  const int unit = dtype.is_complex() ? dtype.itemsize() / 2 : dtype.itemsize();
  return array.size() == 0 || address % static_cast<std::uintptr_t>(unit) == 0;
}

template <bool (*is_set)(PyObject* owner)>
PyObject* get_flag(PyObject* self) {
  return PyBool_FromLong(is_set(owner_in(self)));
}

constexpr std::pair<std::string_view, bool (*)(PyObject* owner)> flags_by_name[] = {
    {"C_CONTIGUOUS", &is_c_contiguous},
    {"C", &is_c_contiguous},
    {"CONTIGUOUS", &is_c_contiguous},
    {"F_CONTIGUOUS", &is_f_contiguous},
    {"F", &is_f_contiguous},
    {"FORTRAN", &is_f_contiguous},
    {"OWNDATA", &owns_data},
    {"O", &owns_data},
    {"WRITEABLE", &is_writeable},
    {"W", &is_writeable},
    {"ALIGNED", &is_aligned},
    {"A", &is_aligned},
    {"FNC", &is_fnc},
    {"FORC", &is_forc}};

bool has_flag(PyObject* owner, std::string_view name) {
  for (const auto& [known, is_set] : flags_by_name)
    if (known == name) return is_set(owner);
  throw py::key_error(
      text("Array.flags: no flag \"", name,
           "\"; there are C_CONTIGUOUS, F_CONTIGUOUS, OWNDATA, WRITEABLE, ALIGNED, FNC, FORC"));
}

PyObject* flags_subscript(PyObject* self, PyObject* key) {
  if (!PyUnicode_Check(key)) throw py::type_error("Array.flags: the name of a flag is a str");
  return PyBool_FromLong(has_flag(owner_in(self), text_in(key)));
}

// The flag belongs to this array: other arrays on the same memory are not changed.
int set_writeable(PyObject* self, PyObject* value, void*) {
  if (value == nullptr) throw py::attribute_error("Array.flags: writeable cannot be deleted");
  const bool writeable = truth_or(value, false);
  Array& array = array_in(owner_in(self));
  if (writeable == !array.readonly()) return 0;
  if (writeable)
    fail<ReadOnlyError>("Array.flags: ", array,
                        " is read-only and cannot be made writeable; copy it: a.copy()");
  array.set_readonly();  // changes no other field: other threads may be reading the array
  return 0;
}

PyObject* flags_repr(PyObject* self) {
  std::string out;
  for (const char* name : {"C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED"}) {
    const bool is_set = has_flag(owner_in(self), name);
    out += text("  ", name, " : ", is_set ? "True" : "False", "\n");
  }
  return PyUnicode_FromStringAndSize(out.data(), static_cast<Py_ssize_t>(out.size()));
}

void flags_dealloc(PyObject* self) noexcept {
  Py_XDECREF(owner_in(self));
  free_object(self);
}

PyObject* array_flags(PyObject* self) {
  PyFlags* flags = PyObject_New(PyFlags, flags_type);
  if (flags == nullptr) return nullptr;
  flags->owner = Py_NewRef(self);
  return reinterpret_cast<PyObject*>(flags);
}

PyGetSetDef flag_attributes[] = {attribute<&get_flag<&is_c_contiguous>>("c_contiguous"),
                                 attribute<&get_flag<&is_c_contiguous>>("contiguous"),
                                 attribute<&get_flag<&is_f_contiguous>>("f_contiguous"),
                                 attribute<&get_flag<&owns_data>>("owndata"),
                                 attribute<&get_flag<&is_writeable>, &set_writeable>("writeable"),
                                 attribute<&get_flag<&is_aligned>>("aligned"),
                                 attribute<&get_flag<&is_fnc>>("fnc"),
                                 attribute<&get_flag<&is_forc>>("forc"),
                                 {}};

PyGetSetDef flags_attribute[] = {attribute<&array_flags>("flags", "As numpy.ndarray.flags."), {}};

}  // namespace

SW_BIND(array_flags, array_type) {
  constexpr const char* doc = "The contiguity, ownership, writeability and alignment of an array.";
  flags_type = make_type("spanwise._core._Flags", sizeof(PyFlags),
                         {slot(Py_tp_dealloc, &flags_dealloc),
                          slot(Py_tp_repr, guarded<&flags_repr>),
                          slot(Py_mp_subscript, guarded<&flags_subscript>),
                          {Py_tp_getset, flag_attributes},
                          {Py_tp_doc, const_cast<char*>(doc)}});
  add_type(module, "_Flags", flags_type);
  add_array_attributes(flags_attribute);
}

}  // namespace spanwise::python
