// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/stl.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "python/array/array_object.hpp"
#include "python/graph/python_op.hpp"
#include "python/graph/variable_object.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/hooks.hpp"
#include "spanwise/python/binding.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

std::string type_name_of(py::handle object) {
  return py::str(py::type::of(object).attr("__name__")).cast<std::string>();
}

std::vector<Variable> variables_from(py::handle list, py::handle op, const char* role) {
  std::vector<Variable> variables;
  for (const py::handle item : py::iter(list)) {
    if (!is_variable(item.ptr()))
      throw py::type_error(text("Apply of ", std::string(py::str(op)), ": ", role, "[",
                                variables.size(), "] must be a Variable, got ", type_name_of(item),
                                "; convert it with spanwise.graph.as_variable"));
    variables.push_back(variable_in(item.ptr()));
  }
  return variables;
}

Ref<Apply> make_apply(py::handle op, py::handle inputs, py::handle outputs) {
  return Apply::make(op_from(op), variables_from(inputs, op, "inputs"),
                     variables_from(outputs, op, "outputs"));
}

// A node of the same op on `inputs`. If their types differ from those of the node's inputs,
// make_node() decides the types of the outputs.
Ref<Apply> clone_with(const Apply& node, const std::vector<Variable>& inputs) {
  const bool has_same_types =
      std::ranges::equal(inputs, node.inputs(), {}, &Variable::type, &Variable::type);
  if (!has_same_types) return node.op().make_node(inputs);
  std::vector<Variable> outputs;
  for (const Variable& output : node.outputs()) outputs.emplace_back(output.type(), output.name());
  return Apply::make(node.op_ref(), inputs, std::move(outputs));
}

std::vector<Variable> inputs_of(const Apply& node) {
  return {node.inputs().begin(), node.inputs().end()};
}

// From extents as integers; None is an extent that is not fixed. In Theano's broadcast patterns
// (bools) True is extent 1 and False is not fixed.
Shape static_shape(py::handle object) {
  std::vector<std::int64_t> extents;
  for (const py::handle extent : py::iter(object)) {
    // Checked here, since an iterator may be infinite.
    if (extents.size() == max_rank)
      fail<LayoutError>("TensorType: expected at most ", max_rank, " dimensions, got more");
    if (extent.is_none())
      extents.push_back(TensorType::any);
    else if (py::isinstance<py::bool_>(extent))
      extents.push_back(extent.cast<bool>() ? 1 : TensorType::any);
    else if (const auto fixed = value_of<std::int64_t>(extent, "TensorType: extent"); fixed >= 0)
      extents.push_back(fixed);
    else
      fail<LayoutError>("TensorType: extent ", fixed,
                        "; expected an extent >= 0, or None where it is free");
  }
  return Shape(std::span<const std::int64_t>(extents));
}

std::unique_ptr<TensorType> tensor_type_from(py::handle dtype, py::handle shape,
                                             py::handle device) {
  std::optional<Device> fixed;
  if (!device.is_none()) fixed = device_from(device);
  return std::make_unique<TensorType>(dtype_from(dtype), static_shape(shape), fixed);
}

py::tuple shape_tuple(const TensorType& type) {
  py::list extents;
  for (const std::int64_t extent : type.shape())
    extents.append(extent == TensorType::any ? py::object(py::none()) : py::int_(extent));
  return py::tuple(extents);
}

py::tuple broadcast_pattern(const TensorType& type) {
  py::list pattern;
  for (int axis = 0; axis < type.rank(); ++axis) pattern.append(type.broadcastable(axis));
  return py::tuple(pattern);
}

py::object call_pickle_function(const char* function, py::handle self) {
  return py::module_::import("spanwise.graph._pickle").attr(function)(self);
}

void bind_type(py::module_& module) {
  py::class_<TensorType> type(
      module, "TensorType",
      "The type of a variable: dtype, rank, the extents that are fixed, and the device if that is "
      "fixed. Calling it makes a variable.");
  type.def(py::init(&tensor_type_from), py::arg("dtype"), py::arg("shape"),
           py::arg("device") = py::none(),
           "An extent of None in `shape` is not fixed. Without `device` the value is on the device "
           "of the function that computes it.")
      .def_property_readonly("dtype", member(&TensorType::dtype))
      .def_property_readonly("ndim", member(&TensorType::rank))
      .def_property_readonly("shape", &shape_tuple)
      .def_property_readonly("broadcastable", &broadcast_pattern)
      .def_property_readonly("device", member(&TensorType::device))
      .def(
          "__call__",
          [](const TensorType& self, const std::optional<std::string>& name) {
            Variable variable(self, name.value_or(""));
            variable.set_trace(graph::current_trace());
            return variable;
          },
          py::arg("name") = py::none())
      .def(
          "__eq__", [](const TensorType& a, const TensorType& b) { return a == b; },
          py::is_operator())
      .def("__reduce__", [](py::handle self) { return call_pickle_function("reduce_type", self); })
      .def("__hash__", [](const TensorType& self) { return std::hash<std::string>()(self.name()); })
      .def("__repr__", member(&TensorType::name));
}

}  // namespace

SW_BIND(graph_apply) {
  bind_type(module);
  py::class_<Apply, Ref<Apply>> apply(module, "Apply",
                                      "A node of the graph: an op applied to inputs.");
  apply.def(py::init(&make_apply), py::arg("op"), py::arg("inputs"), py::arg("outputs"))
      .def_property_readonly("op", [](const Apply& self) { return op_object(self.op_ref()); })
      .def_property_readonly("inputs", &inputs_of)
      .def_property_readonly("outputs", member(&Apply::outputs))
      .def_property_readonly("out",
                             [](const Apply& self) {
                               if (self.output_count() != 1)
                                 fail<GraphError>(self.label(), ": has ", self.output_count(),
                                                  " outputs, not one");
                               return self.output(0);
                             })
      .def_property_readonly("nin", [](const Apply& self) { return self.inputs().size(); })
      .def_property_readonly("nout", member(&Apply::output_count))
      .def_property_readonly("tag", [](const Apply& self) { return tag_of(self.attachment()); })
      .def_property_readonly("trace", member(&Apply::trace),
                             "The lines of the program that made it; \"\" if unknown.")
      .def_property_readonly("_serial", member(&Apply::serial))
      .def_static("_next_serial", &Apply::next_serial)
      .def_property_readonly("_is_pure", [](const Apply& self) { return self.op().foldable(self); })
      .def_property_readonly("_always_needed",
                             [](const Apply& self) {
                               std::vector<Variable> needed;
                               for (int i = 0; const Variable& input : self.inputs())
                                 if (!self.op().needed_if(i++)) needed.push_back(input);
                               return needed;
                             })
      .def("clone_with_new_inputs", &clone_with, py::arg("inputs"))
      .def("clone", [](const Apply& self) { return clone_with(self, inputs_of(self)); })
      .def("__reduce__", [](py::handle self) { return call_pickle_function("reduce_apply", self); })
      .def("__repr__", member(&Apply::label));
}

}  // namespace spanwise::python
