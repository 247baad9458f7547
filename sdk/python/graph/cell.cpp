// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "cell.hpp"

#include <new>
#include <optional>
#include <utility>

#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/call.hpp"
#include "python/support/type.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/function.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

struct PyCell {
  PyObject_HEAD
  Ref<Cell> cell;
  std::optional<CellInfo> info;  // of a storage cell; nothing for a compute cell
};
PyTypeObject* cell_type = nullptr;

PyCell& cell_in(PyObject* object) noexcept { return *reinterpret_cast<PyCell*>(object); }

// An array of any library, copied to the cell's device if needed, never cast. Throws InputError for
// another dtype or rank.
Array array_for_cell(const CellInfo& info, PyObject* value) {
  Array array = is_array(value) && array_in(value).device() == info.device
                    ? array_in(value)
                    : import_array(value, {.device = info.device});
  if (array.dtype() != info.type.dtype())
    fail<InputError>(info.label, ": expected dtype ", info.type.dtype(), ", got ", array.dtype(),
                     "; cast the value with astype, or declare its dtype in make_node");
  if (array.rank() != info.type.rank())
    fail<InputError>(info.label, ": expected ", info.type.rank(), " axes, got ", array.rank(),
                     " (shape ", array.shape(), ")");
  return array;
}

void cell_dealloc(PyObject* object) noexcept {
  cell_in(object).cell.~Ref<Cell>();
  cell_in(object).info.~optional();
  free_object(object);
}

Py_ssize_t cell_length(PyObject*) noexcept { return 1; }

Py_ssize_t index_of_key(PyObject* key) {
  const Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (index == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return index;
}

void check_cell_index(Py_ssize_t index) {
  if (index != 0 && index != -1) throw py::index_error("a cell has one element, [0]");
}

PyObject* cell_item(PyObject* self, Py_ssize_t index) {
  check_cell_index(index);
  const Cell& cell = *cell_in(self).cell;
  if (!cell_in(self).info) return PyBool_FromLong(cell.computed);
  return cell.value ? wrap(*cell.value) : Py_NewRef(Py_None);
}

PyObject* cell_subscript(PyObject* self, PyObject* key) {
  if (PyLong_Check(key)) return cell_item(self, index_of_key(key));
  return PyObject_GetItem(owned(PySequence_List(self)).ptr(), key);
}

int assign_to_cell(PyObject* self, PyObject* key, PyObject* value) {
  if (value == nullptr)
    throw py::type_error("a cell's element cannot be deleted; assign None to empty it");
  check_cell_index(index_of_key(key));
  Cell& cell = *cell_in(self).cell;
  if (!cell_in(self).info)
    cell.computed = truth_or(value, false);
  else if (value == Py_None)
    cell.value.reset();
  else
    cell.value = array_for_cell(*cell_in(self).info, value);
  return 0;
}

// Compares the elements, as lists do; a cell equals itself without comparing elements.
PyObject* compare_cells(PyObject* self, PyObject* other, int operation) {
  if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  if (Py_TYPE(other) == cell_type) {
    const bool is_same = cell_in(self).cell == cell_in(other).cell &&
                         cell_in(self).info.has_value() == cell_in(other).info.has_value();
    return PyBool_FromLong(is_same == (operation == Py_EQ));
  }
  if (!PyList_Check(other)) Py_RETURN_NOTIMPLEMENTED;
  return PyObject_RichCompare(owned(PySequence_List(self)).ptr(), other, operation);
}

py::str repr_of_cell(PyObject* self) { return py::repr(owned(PySequence_List(self))); }

py::object make_cell(Ref<Cell> cell, std::optional<CellInfo> info) {
  py::object object = owned(cell_type->tp_alloc(cell_type, 0));
  new (&cell_in(object.ptr()).cell) Ref<Cell>(std::move(cell));
  new (&cell_in(object.ptr()).info) std::optional<CellInfo>(std::move(info));
  return object;
}

}  // namespace

py::object make_storage_cell(Ref<Cell> cell, CellInfo info) {
  return make_cell(std::move(cell), std::move(info));
}

py::object make_compute_cell(Ref<Cell> cell) { return make_cell(std::move(cell), std::nullopt); }

SW_BIND(graph_cell) {
  constexpr const char* doc =
      "A list of one element: where a compiled function keeps the value of one variable, an Array "
      "or None, or whether it is computed, a bool.";
  cell_type = make_type("spanwise.Cell", sizeof(PyCell),
                        {slot(Py_tp_dealloc, &cell_dealloc),
                         slot(Py_tp_richcompare, guarded<&compare_cells>),
                         slot(Py_tp_hash, PyObject_HashNotImplemented),
                         slot(Py_tp_repr, guarded<&repr_of_cell>),
                         {Py_tp_doc, const_cast<char*>(doc)},
                         slot(Py_sq_length, &cell_length),
                         slot(Py_sq_item, guarded<&cell_item>),
                         slot(Py_mp_length, &cell_length),
                         slot(Py_mp_subscript, guarded<&cell_subscript>),
                         slot(Py_mp_ass_subscript, guarded<&assign_to_cell>)});
}

}  // namespace spanwise::python
