// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/graph/python_op.hpp"

#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "python/array/array_object.hpp"
#include "python/graph/variable_object.hpp"
#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/elementwise.hpp"
#include "spanwise/graph/rewrite.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/op_sdk/expression.hpp"
#include "spanwise/python/binding.hpp"

/// Ops between C++ and Python: Python ops with their gradients and element bodies in graphs of C++,
/// C++ ops and kernel ops as Python objects, and rewrites written in Python.
namespace spanwise::python {

namespace py = pybind11;

namespace {

DisconnectedInput disconnected_input_named(const std::string& name) {
  if (name == "raise") return DisconnectedInput::raise;
  if (name == "warn") return DisconnectedInput::warn;
  if (name == "ignore") return DisconnectedInput::zeros;
  if (name == "none") return DisconnectedInput::null_variable;
  fail<ArgumentError>(
      "grad: disconnected_inputs: expected \"raise\", \"warn\" or \"ignore\", got \"", name, "\"");
}

// One variable, or None, for each of `wrt`.
py::list gradients_of(const KnownGradients& known, const std::vector<Variable>& wrt,
                      std::vector<Variable> consider_constant, const std::string& disconnected) {
  GradientOptions options;
  options.consider_constant = std::move(consider_constant);
  options.disconnected = disconnected_input_named(disconnected);
  py::list derivatives;
  for (const Variable& derivative : gradients(known, wrt, options))
    derivatives.append(derivative ? py::cast(derivative) : py::none());
  return derivatives;
}

py::module_ op_gradient_module() { return py::module_::import("spanwise.graph._gradient"); }

py::object apply_object(const Apply& node) {
  return py::cast(Ref<Apply>(const_cast<Apply*>(&node)));
}

// Each as a Variable, or None where it is disconnected.
py::list list_of(std::span<const Cotangent> cotangents) {
  py::list list;
  for (const Cotangent& cotangent : cotangents)
    list.append(cotangent.has_variable() ? py::cast(cotangent.variable()) : py::none());
  return list;
}

// From the items that functions of op_gradient_module() return: a Variable, None for a disconnected
// one, or text, the reason why it is undefined.
std::vector<Cotangent> cotangents_from(const py::object& items) {
  std::vector<Cotangent> cotangents;
  for (const py::handle item : items) {
    if (item.is_none())
      cotangents.emplace_back();
    else if (is_variable(item.ptr()))
      cotangents.emplace_back(as_variable(item));
    else
      cotangents.push_back(Cotangent::undefined(py::str(item).cast<std::string>()));
  }
  return cotangents;
}

std::vector<std::pair<std::string, DType>> dtypes_by_name(const py::handle& pairs) {
  std::vector<std::pair<std::string, DType>> all;
  for (const py::handle pair : pairs) {
    const auto entry = py::cast<py::tuple>(pair);
    all.emplace_back(entry[0].cast<std::string>(), dtype_from(entry[1]));
  }
  return all;
}

std::vector<ElementBody::Value> values_from(const py::handle& pairs) {
  std::vector<ElementBody::Value> all;
  for (auto& [name, dtype] : dtypes_by_name(pairs)) all.push_back({std::move(name), dtype});
  return all;
}

// The body that the Python op `op` declares for `node`; null where it has none.
std::shared_ptr<const ElementBody> element_body_of(const py::object& op, const Apply& node) {
  const py::object declaration =
      py::module_::import("spanwise.graph._op").attr("element_body_of")(op, apply_object(node));
  if (declaration.is_none()) return nullptr;
  // (op, inputs, outputs, operation, preamble, types)
  const auto parts = py::cast<py::tuple>(declaration);
  auto body = std::make_shared<ElementBody>();
  body->op = parts[0].cast<std::string>();
  body->inputs = values_from(parts[1]);
  body->outputs = values_from(parts[2]);
  body->operation = parts[3].cast<std::string>();
  body->preamble = parts[4].cast<std::string>();
  body->types = dtypes_by_name(parts[5]);
  return body;
}

py::module_ graph_module() { return py::module_::import("spanwise.graph"); }

AliasMap alias_map(py::handle op, const char* attribute) {
  const py::object map = py::getattr(op, attribute, py::none());
  if (map.is_none() || py::len(map) == 0) return {};
  return value_of<AliasMap>(entries_of(map.ptr()), attribute);
}

using InputConditions = std::map<int, InputCondition>;

// {input: (input with a number, truth)} of a lazy op.
InputConditions input_conditions(py::handle op) {
  const py::object map = py::getattr(op, "needed_if", py::none());
  if (map.is_none() || py::len(map) == 0) return {};
  InputConditions conditions;
  for (const auto& [input, condition] :
       value_of<std::map<int, std::pair<int, bool>>>(map, "needed_if"))
    conditions[input] = {condition.first, condition.second};
  return conditions;
}

/// Wraps a Python op. view_map and destroy_map are read once, since ops must not change.
class PythonOp final : public Op, public HasElementBody {
 public:
  explicit PythonOp(py::object op)
      : views_(alias_map(op, "view_map")),
        destroys_(alias_map(op, "destroy_map")),
        conditions_(input_conditions(op)),
        infers_shape_(py::hasattr(op, "infer_shape")),
        has_body_(py::hasattr(op, "element_body")),
        op_(share_object(std::move(op))) {}

  std::string name() const override {
    const GilAcquire gil;
    try {
      return py::str(object()).cast<std::string>();
    } catch (py::error_already_set&) {
      return py::str(py::type::handle_of(object()).attr("__name__")).cast<std::string>();
    }
  }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    const GilAcquire gil;
    py::tuple arguments(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) arguments[i] = py::cast(inputs[i]);
    const py::object node = object().attr("make_node")(*arguments);
    if (!py::isinstance<Apply>(node))
      fail<GraphError>(name(), ": make_node must return an Apply, got ",
                       std::string(py::repr(node)));
    return node.cast<Ref<Apply>>();
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    const GilAcquire gil;
    return make_python_thunk(object(), context);
  }

  bool equals(const Op& other) const override {
    if (this == &other) return true;
    const auto* python = dynamic_cast<const PythonOp*>(&other);
    if (python == nullptr) return false;
    const GilAcquire gil;
    return object().equal(python->object());
  }
  std::size_t hash() const override {
    const GilAcquire gil;
    return static_cast<std::size_t>(py::hash(object()));
  }
  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    const GilAcquire gil;
    return cotangents_from(
        op_gradient_module().attr("op_gradient")(object(), apply_object(node), list_of(outputs)));
  }
  bool connects(const Apply& node, int input, int output) const override {
    const GilAcquire gil;
    return py::bool_(
        op_gradient_module().attr("op_connects")(object(), apply_object(node), input, output));
  }
  std::vector<ExtentSource> extent_sources(const Apply& node, int output, int axis) const override {
    if (!infers_shape_) return {};
    const GilAcquire gil;
    const py::object source =
        py::module_::import("spanwise.graph._op")
            .attr("extent_source")(object(), apply_object(node), output, axis);
    if (source.is_none()) return {};
    const auto [input, of_axis] = source.cast<std::pair<int, int>>();
    return {{input, of_axis}};
  }
  Variable inferred_extent(const Apply& node, int output, int axis) const override {
    if (!infers_shape_) return {};
    const GilAcquire gil;
    const py::object extent =
        py::module_::import("spanwise.graph._op")
            .attr("inferred_extent")(object(), apply_object(node), output, axis);
    return extent.is_none() ? Variable() : as_variable(extent);
  }
  std::shared_ptr<const ElementBody> element_body(const Apply& node) const override {
    if (!has_body_) return nullptr;
    const GilAcquire gil;
    return element_body_of(object(), node);
  }
  AliasMap view_map() const override { return views_; }
  AliasMap destroy_map() const override { return destroys_; }
  // A Python op may keep references to its results, or return arrays to which other code has
  // references.
  bool has_unshared_outputs() const override { return false; }
  std::optional<InputCondition> needed_if(int input) const override {
    const auto condition = conditions_.find(input);
    if (condition == conditions_.end()) return std::nullopt;
    return condition->second;
  }
  bool foldable(const Apply& node) const override {
    const GilAcquire gil;
    return py::bool_(object().attr("do_constant_folding")(apply_object(node)));
  }

  py::object object() const { return py::reinterpret_borrow<py::object>(op_.get()); }

 private:
  AliasMap views_, destroys_;
  InputConditions conditions_;
  bool infers_shape_, has_body_;
  SharedObject op_;
};

/// The C++ op in the attribute _handle of a spanwise.graph.NativeOp.
struct OpHandle {
  Ref<const Op> op;
};

OpProperty property_from(py::handle value, const char* name) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::isinstance<py::int_>(value)) return value_of<std::int64_t>(value, name);
  if (py::isinstance<py::float_>(value)) return value.cast<double>();
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (py::isinstance<py::sequence>(value)) return value_of<std::vector<std::int64_t>>(value, name);
  return py::str(value).cast<std::string>();  // a device, a dtype
}

OpHandle make_registered(const std::string& name, const py::dict& properties) {
  OpProperties converted;
  for (const auto& [key, value] : entries_of(properties.ptr())) {
    const auto property = value_of<std::string>(key, "property");
    converted.emplace(property, property_from(value, property.c_str()));
  }
  return {make_op(name, converted)};
}

std::pair<std::string, std::vector<std::pair<std::string, std::string>>> load(
    const std::string& path) {
  // Constructors of the library may be slow, or take the GIL.
  const LoadedOps loaded = without_gil([&] { return load_ops(path); });
  std::vector<std::pair<std::string, std::string>> ops;
  for (const LoadedOps::Op& op : loaded.ops) ops.emplace_back(op.name, op.summary);
  return {loaded.name_space, std::move(ops)};
}

// The arguments of _make_op() that make the op; None for ops that are not in the registry.
py::object recipe_of(const OpHandle& self) {
  const auto recipe = self.op->recipe();
  if (recipe == nullptr) return py::none();
  py::dict properties;
  for (const auto& [name, value] : recipe->properties)
    properties[py::str(name)] =
        std::visit([](const auto& alternative) { return py::cast(alternative); }, value);
  return py::make_tuple(recipe->name, properties);
}

// The dict that sw.kernel_op() made it from; None for other ops.
py::object declaration_of(const OpHandle& self) {
  const auto* declaration = static_cast<const SharedObject*>(self.op->attachment().get());
  if (declaration == nullptr) return py::none();
  return py::reinterpret_borrow<py::object>(declaration->get());
}

// An Array or Variable itself, any other object as an Array: for functions written in Python.
PyObject* operand(PyObject*, PyObject* value) {
  if (is_array(value) || is_variable(value)) return Py_NewRef(value);
  return wrap(import_array(value));
}

PyMethodDef operand_functions[] = {{"_operand", guarded<&operand>, METH_O, nullptr}, {}};

// The implementation of spanwise.graph.kernel_op(), after it has normalised its arguments.

using namespace py::literals;

// A Python number as a Scalar of the same kind; the launch converts it to the parameter's type.
Scalar scalar_from_number(const std::string& op, const std::string& name, py::handle value) {
  if (PyBool_Check(value.ptr())) return Scalar(value.cast<bool>());
  if (PyLong_Check(value.ptr())) return Scalar(value_of<std::int64_t>(value, name.c_str()));
  if (PyFloat_CheckExact(value.ptr())) return Scalar(value.cast<double>());
  if (PyComplex_CheckExact(value.ptr())) return Scalar(value.cast<std::complex<double>>());
  const Array array = import_array(value.ptr());
  if (array.size() != 1)
    fail<ArgumentError>("kernel_op ", op, ": scalar ", name,
                        ": expected a number, got an array of shape ", array.shape());
  return item(array);
}

KernelOpSpec spec_from(const py::dict& declaration) {
  const auto strings = [&](const char* key) {
    return value_of<std::vector<std::string>>(declaration[key], key);
  };
  KernelOpSpec spec;
  const auto string = [&](const char* key) { return value_of<std::string>(declaration[key], key); };
  spec.name = string("name");
  spec.source = string("source");
  spec.kernel = string("kernel");
  spec.inputs = strings("inputs");
  spec.outputs = strings("outputs");
  spec.arguments = strings("arguments");
  spec.block = strings("block");
  spec.grid = strings("grid");
  spec.shared = string("shared");
  for (const auto& [name, value] : entries_of(py::object(declaration["scalars"]).ptr())) {
    const auto key = value_of<std::string>(name, "scalars");
    spec.scalars.emplace(key, scalar_from_number(spec.name, key, value));
  }
  if (declaration.contains("overwrites"))  // absent in pickles of earlier versions
    spec.overwrites =
        value_of<std::map<std::string, std::string>>(declaration["overwrites"], "overwrites");
  spec.options.options = strings("options");
  spec.options.include_dirs = strings("include_dirs");
  spec.gradient = gradient_rule(declaration);
  return spec;
}

py::list counts() {
  py::list all;
  for (const KernelOpCounts& counts : kernel_op_counts())
    all.append(py::dict("name"_a = counts.name, "shared"_a = counts.shared,
                        "copied"_a = counts.copied, "bytes_copied"_a = counts.bytes_copied));
  return all;
}

// `function(node)` returns the replacements of a node's outputs as a list of Variables.
bool register_python_rewrite(const std::string& name, double position,
                             std::vector<std::string> tags, py::object function) {
  return register_node_rewrite(
      {.name = name,
       .position = position,
       .tags = std::move(tags),
       .apply = [function = share_object(std::move(function))](const Apply& node) {
         const GilAcquire gil;
         return py::reinterpret_borrow<py::object>(function.get())(apply_object(node))
             .cast<std::vector<Variable>>();
       }});
}

py::list listed_rewrites() {
  py::list all;
  for (const Rewrite& rewrite : rewrites())
    all.append(py::make_tuple(rewrite.name, rewrite.position, rewrite.tags));
  return all;
}

}  // namespace

GradientRule gradient_rule(const py::dict& declaration) {
  if (!declaration.contains("grad") || declaration["grad"].is_none()) return {};
  return
      [shared = share_object(declaration)](const Apply& node, std::span<const Cotangent> outputs) {
        const GilAcquire gil;
        return cotangents_from(op_gradient_module().attr("kernel_gradient")(
            py::handle(shared.get()), apply_object(node), list_of(outputs)));
      };
}

Variable apply_op(const char* name, const OpProperties& properties,
                  std::span<const Variable> inputs) {
  return (*make_op(name, properties))(inputs)[0];
}

int variable_axis(const Variable& variable, std::int64_t axis, int added_axes) {
  const int rank = variable.type().rank() + added_axes;
  if (axis < -rank || axis >= rank)
    fail<AxisError>("axis ", axis, " of ", variable.label(), " of ", variable.type(),
                    " is out of bounds; expected ", -rank, " to ", rank - 1);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Ref<const Op> op_from(py::handle op) {
  const py::module_ graph = graph_module();
  if (py::isinstance(op, graph.attr("NativeOp"))) return op.attr("_handle").cast<OpHandle&>().op;
  if (!py::isinstance(op, graph.attr("Op")))
    throw py::type_error(text("Apply: op must be a spanwise.Op, got ", std::string(py::repr(op)),
                              "; derive its class from spanwise.Op"));
  return make_ref<const PythonOp>(py::reinterpret_borrow<py::object>(op));
}

py::object op_object(const Ref<const Op>& op) {
  if (const auto* python = dynamic_cast<const PythonOp*>(op.get())) return python->object();
  const char* type = op->attachment() == nullptr ? "NativeOp" : "KernelOp";
  return graph_module().attr(type)(OpHandle{op});
}

SW_BIND(graph_gradient) {
  module.def("_gradients", &gradients_of);
  module.def("_zeros_like", &expression::zeros_like);
  module.def("_inferred_extent", &expression::inferred_extent);
}

SW_BIND(graph_op) {
  module.attr("_computed_extent") = expression::computed_extent;
  py::class_<OpHandle>(module, "_OpHandle")
      .def_property_readonly("name", [](const OpHandle& self) { return self.op->name(); })
      .def_property_readonly("view_map", [](const OpHandle& self) { return self.op->view_map(); })
      .def_property_readonly("destroy_map",
                             [](const OpHandle& self) { return self.op->destroy_map(); })
      .def("make_node",
           [](const OpHandle& self, const std::vector<Variable>& inputs) {
             return self.op->make_node(inputs);
           })
      .def_property_readonly("recipe", &recipe_of)
      .def_property_readonly("declaration", &declaration_of)
      .def("equals", [](const OpHandle& a, const OpHandle& b) { return a.op->equals(*b.op); })
      .def("hash", [](const OpHandle& self) { return self.op->hash(); });
  add_functions(module, operand_functions);
  module.def("_make_op", &make_registered);
  module.def("_op_names", &op_names);
  module.def("_load_ops", &load);
  module.def(
      "_as_variable",
      [](py::handle value, py::handle name) {
        const Variable variable = as_variable(value);
        if (!name.is_none() && !is_variable(value.ptr()))
          variable.set_name(value_of<std::string>(name, "name"));
        return variable;
      },
      py::arg("value"), py::arg("name") = py::none());
}

SW_BIND(graph_kernel_op) {
  module.def("_kernel_op", [](const py::dict& declaration) {
    const Ref<const Op> op = kernel_op(spec_from(declaration));
    op->attachment() = std::make_shared<SharedObject>(share_object(declaration));
    return op_object(op);
  });
  module.def("_kernel_op_global", [](const OpHandle& self, py::handle name, py::handle device) {
    std::optional<Device> target;
    if (!device.is_none()) target = device_from(device);
    return kernel_op_global(*self.op, value_of<std::string>(name, "name"), target);
  });
  // (text, options, names, include_dirs), as compiled where the letters stand for these dtypes.
  module.def("_kernel_op_source", [](const py::dict& declaration,
                                     const std::map<std::string, DType>& dtypes) {
    std::map<char, DType> letters;
    for (const auto& [letter, dtype] : dtypes)
      letters.emplace(letter.empty() ? 0 : letter[0], dtype);
    const auto [source, options] = kernel_op_source(*kernel_op(spec_from(declaration)), letters);
    return py::make_tuple(source, options.options, options.names, options.include_dirs);
  });
  module.def("_kernel_op_counts", &counts);
}

SW_BIND(graph_rewrite) {
  module.def("_rewrites", &listed_rewrites);
  module.def("_register_rewrite", &register_python_rewrite);
  module.def("_remove_rewrite", &remove_rewrite, py::call_guard<GilRelease>());
}

}  // namespace spanwise::python
