// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "cell.hpp"

#include <new>
#include <utility>

#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/type.hpp"
#include "spanwise/error.hpp"
#include "spanwise/graph/function.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

struct PyStorageCell {
  PyObject_HEAD
  Ref<Cell> cell;
  CellInfo info;

  static inline PyTypeObject* type = nullptr;
  PyObject* get() const {
    if (!cell->value) Py_RETURN_NONE;
    return wrap(*cell->value);
  }
  void set(PyObject* value);
};

struct PyComputeCell {
  PyObject_HEAD
  Ref<Cell> cell;

  static inline PyTypeObject* type = nullptr;
  PyObject* get() const { return PyBool_FromLong(cell->computed); }
  void set(PyObject* value) {
    const int computed = PyObject_IsTrue(value);
    if (computed < 0) throw py::error_already_set();
    cell->computed = computed != 0;
  }
};

// Stores an array of any library, copied to the cell's device if needed, never cast. Throws
// InputError for another dtype or rank.
void PyStorageCell::set(PyObject* value) {
  if (value == Py_None) {
    cell->value.reset();
    return;
  }
  Array array = is_array(value) && array_in(value).device() == info.device
                    ? array_in(value)
                    : import_array(value, {.device = info.device});
  if (array.dtype() != info.type.dtype())
    fail<InputError>(info.label, ": expected dtype ", info.type.dtype(), ", got ", array.dtype(),
                     "; cast the value with astype, or declare its dtype in make_node");
  if (array.rank() != info.type.rank())
    fail<InputError>(info.label, ": expected ", info.type.rank(), " axes, got ", array.rank(),
                     " (shape ", array.shape(), ")");
  cell->value = std::move(array);
}

template <class T>
T& self_in(PyObject* object) noexcept {
  return *reinterpret_cast<T*>(object);
}

template <class T>
void cell_dealloc(PyObject* object) noexcept {
  self_in<T>(object).cell.~Ref<Cell>();
  if constexpr (std::is_same_v<T, PyStorageCell>) self_in<T>(object).info.~CellInfo();
  free_object(object);
}

Py_ssize_t length(PyObject*) noexcept { return 1; }

bool check_index(Py_ssize_t index) noexcept {
  if (index == 0 || index == -1) return true;
  PyErr_SetString(PyExc_IndexError, "a cell has one element, [0]");
  return false;
}

template <class T>
PyObject* item(PyObject* self, Py_ssize_t index) noexcept {
  return check_index(index) ? self_in<T>(self).get() : nullptr;
}

template <class T>
PyObject* subscript(PyObject* self, PyObject* key) noexcept {
  if (PyLong_Check(key)) return item<T>(self, PyLong_AsSsize_t(key));
  PyObject* list = PySequence_List(self);
  if (list == nullptr) return nullptr;
  PyObject* part = PyObject_GetItem(list, key);
  Py_DECREF(list);
  return part;
}

template <class T>
int assign(PyObject* self, PyObject* key, PyObject* value) {
  if (value == nullptr) {
    PyErr_SetString(PyExc_TypeError, "a cell's element cannot be deleted; assign None to empty it");
    return -1;
  }
  const Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if ((index == -1 && PyErr_Occurred() != nullptr) || !check_index(index)) return -1;
  self_in<T>(self).set(value);
  return 0;
}

// Compares the elements, as lists do; a cell equals itself without comparing elements.
template <class T>
PyObject* compare_cells(PyObject* self, PyObject* other, int operation) noexcept {
  if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  if (Py_TYPE(other) == T::type)
    return PyBool_FromLong((self_in<T>(self).cell == self_in<T>(other).cell) ==
                           (operation == Py_EQ));
  if (!PyList_Check(other)) Py_RETURN_NOTIMPLEMENTED;
  PyObject* list = PySequence_List(self);
  if (list == nullptr) return nullptr;
  PyObject* result = PyObject_RichCompare(list, other, operation);
  Py_DECREF(list);
  return result;
}

template <class T>
PyObject* show(PyObject* self) noexcept {
  PyObject* list = PySequence_List(self);
  if (list == nullptr) return nullptr;
  PyObject* text = PyObject_Repr(list);
  Py_DECREF(list);
  return text;
}

template <class T>
void make_cell_type(const char* name, const char* doc) {
  T::type = make_type(name, sizeof(T),
                      {slot(Py_tp_dealloc, cell_dealloc<T>),
                       slot(Py_tp_richcompare, compare_cells<T>),
                       slot(Py_tp_hash, PyObject_HashNotImplemented),
                       slot(Py_tp_repr, show<T>),
                       {Py_tp_doc, const_cast<char*>(doc)},
                       slot(Py_sq_length, length),
                       slot(Py_sq_item, item<T>),
                       slot(Py_mp_length, length),
                       slot(Py_mp_subscript, subscript<T>),
                       slot(Py_mp_ass_subscript, guarded<&assign<T>>)});
}

template <class T>
T& allocate() {
  PyObject* object = T::type->tp_alloc(T::type, 0);
  if (object == nullptr) throw py::error_already_set();
  return self_in<T>(object);
}

}  // namespace

py::object make_storage_cell(Ref<Cell> cell, CellInfo info) {
  auto& self = allocate<PyStorageCell>();
  new (&self.cell) Ref<Cell>(std::move(cell));
  new (&self.info) CellInfo(std::move(info));
  return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(&self));
}

py::object make_compute_cell(Ref<Cell> cell) {
  auto& self = allocate<PyComputeCell>();
  new (&self.cell) Ref<Cell>(std::move(cell));
  return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(&self));
}

SW_BIND(graph_cell) {
  make_cell_type<PyStorageCell>(
      "spanwise.StorageCell",
      "Where a compiled function keeps one variable's value: a list of one "
      "element, an Array or None.");
  make_cell_type<PyComputeCell>("spanwise.ComputeCell",
                                "Whether a variable is computed: a list of one bool.");
}

}  // namespace spanwise::python
