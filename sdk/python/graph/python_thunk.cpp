// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <Python.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/array/array_object.hpp"
#include "python/graph/python_op.hpp"
#include "python/graph/variable_object.hpp"
#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/function.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/devices.hpp"

/// Thunks of Python ops. The cells of storage_map and compute_map each behave like a list of one
/// element: that of a storage cell is None or an Array, that of a compute cell a bool.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// The type and device that a value stored in a cell must have.
struct CellInfo {
  TensorType type;
  Device device;
  std::string label;  ///< prefix of error messages: "Op(x, y): output 0"
};

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

std::string repr_of(py::handle object) { return py::repr(object).cast<std::string>(); }

// Throws a Python exception (not a C++ one), so that the note about the node can be added to it.
[[noreturn]] void raise_type_error(const std::string& message) {
  PyErr_SetString(PyExc_TypeError, message.c_str());
  throw py::error_already_set();
}

class PythonThunk final : public Thunk {
 public:
  PythonThunk(py::object thunk, const ThunkContext& context)
      : name_(context.node().op().name()),
        device_(context.device()),
        lazy_(py::bool_(py::getattr(thunk, "lazy", py::bool_(false)))),
        thunk_(share_object(std::move(thunk))) {}

  bool lazy() const override { return lazy_; }

  std::vector<int> run() override {
    const GilAcquire gil;
    std::optional<DeviceGuard> on_device;  // makes the function's device the default device
    if (default_device() != device_) on_device.emplace(device_);
    const py::object result = owned(PyObject_CallNoArgs(thunk_.get()));
    if (result.is_none()) return {};
    if (!lazy_) refuse_result(result);
    return needed_inputs(result);
  }

 private:
  std::vector<int> needed_inputs(const py::object& result) const {
    if (!py::isinstance<py::list>(result) && !py::isinstance<py::tuple>(result))
      raise_type_error(text(name_,
                            ": a lazy thunk returns a list of the indices of the inputs that ",
                            "it needs, or None; got ", repr_of(result)));
    return value_of<std::vector<int>>(result, name_.c_str());
  }
  [[noreturn]] void refuse_result(const py::object& result) const {
    raise_type_error(text(name_, ": a thunk that is not lazy returns None, got ", repr_of(result),
                          "; put results into the cells of storage_map"));
  }

  std::string name_;
  Device device_;
  bool lazy_;
  SharedObject thunk_;
};

/// The arguments storage_map, compute_map and no_recycling of make_thunk, for the node's variables.
struct ThunkMaps {
  py::dict storage, compute;
  py::list no_recycling;

  void add(const ThunkContext& context, const Variable& variable, const Ref<Cell>& cell,
           const std::string& label) {
    const py::object key = py::cast(variable);
    if (storage.contains(key)) return;
    const Device device = variable.type().device().value_or(context.device());
    storage[key] = make_cell(cell, CellInfo{variable.type(), device, label});
    compute[key] = make_cell(cell, std::nullopt);
  }
};

ThunkMaps maps_for(const ThunkContext& context) {
  const Apply& node = context.node();
  const std::string label = node.label();
  ThunkMaps maps;
  for (int i = 0; i < node.output_count(); ++i) {
    const Variable output = node.output(i);
    maps.add(context, output, context.output(i), text(label, ": output ", i));
    if (!context.recyclable(i)) maps.no_recycling.append(py::cast(output));
  }
  for (std::size_t i = 0; i < node.inputs().size(); ++i)
    maps.add(context, node.inputs()[i], context.input(static_cast<int>(i)),
             text(label, ": input ", i));
  return maps;
}

// The number of parameters besides self of a method written in Python; nothing for *args, or where
// it is unknown.
std::optional<int> parameter_count(const py::object& method) {
  py::object function = py::getattr(method, "__func__", method);
  while (py::hasattr(function, "__wrapped__")) function = function.attr("__wrapped__");
  const py::object code = py::getattr(function, "__code__", py::none());
  if (code.is_none() || (code.attr("co_flags").cast<int>() & CO_VARARGS) != 0) return std::nullopt;
  return code.attr("co_argcount").cast<int>() - (function.is(method) ? 0 : 1);
}

}  // namespace

std::unique_ptr<Thunk> make_python_thunk(py::object op, const ThunkContext& context) {
  const ThunkMaps maps = maps_for(context);
  const DeviceGuard on_device(context.device());
  const Ref<Apply> node(const_cast<Apply*>(&context.node()));
  const py::object make = op.attr("make_thunk");
  const std::optional<int> count = parameter_count(make);
  if (count && *count < 4)
    fail<GraphError>(std::string(py::str(op)),
                     ": make_thunk must take (self, node, storage_map, compute_map, no_recycling) "
                     "and perhaps impl; it takes ",
                     *count, " besides self");
  // Ops from before 2016 do not have the parameter impl.
  py::object thunk = count == 4
                         ? make(node, maps.storage, maps.compute, maps.no_recycling)
                         : make(node, maps.storage, maps.compute, maps.no_recycling, py::none());
  if (PyCallable_Check(thunk.ptr()) == 0)
    fail<GraphError>(std::string(py::str(op)),
                     ": make_thunk must return a callable without arguments, got ", repr_of(thunk));
  return std::make_unique<PythonThunk>(std::move(thunk), context);
}

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
