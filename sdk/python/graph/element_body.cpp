// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "python_op.hpp"

#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "python/support/array.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

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

}  // namespace

std::shared_ptr<const ElementBody> element_body_of(const py::object& op, const Apply& node) {
  const py::object declaration = py::module_::import("spanwise.graph._op")
                                     .attr("element_body_of")(op, apply_object(node));
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

}  // namespace spanwise::python
