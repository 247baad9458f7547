// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python_op.hpp"

#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apply.hpp"
#include "cell.hpp"
#include "spanwise/python/bridge_kit.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/value.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/core/error.hpp"
#include "variable.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

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
    storage[key] = make_storage_cell(cell, {variable.type(), device, label});
    compute[key] = make_compute_cell(cell);
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

}  // namespace spanwise::python
