// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <vector>

#include "graph/elementwise_op.hpp"
#include "python/array/array_object.hpp"
#include "python/graph/python_op.hpp"
#include "python/graph/variable_object.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/python/bridge_kit.hpp"

/// kernel_op() with an element body, after its declaration has been read.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// From tuples of name, dtype letter, and dtype or None.
std::vector<ops::UserOpSpec::Parameter> user_parameters(const py::handle& list) {
  std::vector<ops::UserOpSpec::Parameter> parameters;
  for (const py::handle item : list) {
    const auto fields = py::cast<py::tuple>(item);
    ops::UserOpSpec::Parameter parameter{fields[0].cast<std::string>(),
                                         fields[1].cast<std::string>()};
    if (!fields[2].is_none()) parameter.dtype = dtype_from(fields[2]);
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

py::object element_op(const py::dict& declaration) {
  ops::UserOpSpec spec;
  spec.name = declaration["name"].cast<std::string>();
  spec.inputs = user_parameters(declaration["element_inputs"]);
  spec.outputs = user_parameters(declaration["element_outputs"]);
  spec.operation = declaration["source"].cast<std::string>();
  spec.preamble = declaration["preamble"].cast<std::string>();
  spec.gradient = gradient_rule(declaration);
  const Ref<const Op> op = ops::user_op(std::move(spec));
  op->attachment() = std::make_shared<SharedObject>(share_object(declaration));
  return op_object(op);
}

}  // namespace

SW_BIND(element_op) { module.def("_element_op", &element_op); }

}  // namespace spanwise::python
