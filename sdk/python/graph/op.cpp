// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/stl.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apply.hpp"
#include "spanwise/python/bridge_kit.hpp"
#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/call.hpp"
#include "python/support/snapshot.hpp"
#include "python/support/value.hpp"
#include "python_op.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/op_sdk/expression.hpp"
#include "variable.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

py::module_ graph_module() { return py::module_::import("spanwise.graph"); }

AliasMap alias_map(py::handle op, const char* attribute) {
  const py::object map = py::getattr(op, attribute, py::none());
  if (map.is_none() || py::len(map) == 0) return {};
  return value_of<AliasMap>(entries_of(map.ptr()), attribute);
}

/// Wraps a Python op. view_map and destroy_map are read once, since ops must not change.
class PythonOp final : public Op, public HasElementBody {
 public:
  explicit PythonOp(py::object op)
      : views_(alias_map(op, "view_map")),
        destroys_(alias_map(op, "destroy_map")),
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
  bool foldable(const Apply& node) const override {
    const GilAcquire gil;
    return py::bool_(object().attr("do_constant_folding")(apply_object(node)));
  }

  py::object object() const { return py::reinterpret_borrow<py::object>(op_.get()); }

 private:
  AliasMap views_, destroys_;
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
  return py::make_tuple(recipe->name,
                        std::map(recipe->properties.begin(), recipe->properties.end()));
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

}  // namespace

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

}  // namespace spanwise::python
