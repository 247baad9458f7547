// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "python_op.hpp"

#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "apply.hpp"
#include "spanwise/python/bridge_kit.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/op_sdk/expression.hpp"
#include "variable.hpp"

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

}  // namespace

py::module_ op_gradient_module() { return py::module_::import("spanwise.graph._gradient"); }

py::object apply_object(const Apply& node) {
  return py::cast(Ref<Apply>(const_cast<Apply*>(&node)));
}

py::list list_of(std::span<const Cotangent> cotangents) {
  py::list list;
  for (const Cotangent& cotangent : cotangents)
    list.append(cotangent.has_variable() ? py::cast(cotangent.variable()) : py::none());
  return list;
}

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

GradientRule gradient_rule(const py::dict& declaration) {
  if (!declaration.contains("grad") || declaration["grad"].is_none()) return {};
  return
      [shared = share_object(declaration)](const Apply& node, std::span<const Cotangent> outputs) {
        const GilAcquire gil;
        return cotangents_from(op_gradient_module().attr("kernel_gradient")(
            py::handle(shared.get()), apply_object(node), list_of(outputs)));
      };
}

SW_BIND(graph_gradient) {
  module.def("_gradients", &gradients_of);
  module.def("_zeros_like", &expression::zeros_like);
  module.def("_inferred_extent", &expression::inferred_extent);
}

}  // namespace spanwise::python
