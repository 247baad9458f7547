// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>

#include "op_sdk/plugin/plugin_op.hpp"
#include "spanwise/core/error.hpp"

// sw_op.element_body, as the graph uses it.
namespace spanwise::op_sdk {
namespace {

// `value` as an expression in C, with all digits of a double.
std::string real_text(double value) {
  if (std::isnan(value)) return "(0.0 / 0.0)";
  if (std::isinf(value)) return value > 0 ? "(1.0 / 0.0)" : "(-1.0 / 0.0)";
  char digits[64];
  std::snprintf(digits, sizeof digits, "%.17e", value);
  return digits;
}

// The definition of a property that is a number; "" for others.
std::string constant_text(const std::string& name, const OpProperty& value) {
  if (const auto* flag = std::get_if<bool>(&value))
    return text("const bool ", name, " = ", *flag ? "true" : "false", ";");
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return text("const long long ", name, " = ", *integer, "ll;");
  if (const auto* real = std::get_if<double>(&value))
    return text("const double ", name, " = ", real_text(*real), ";");
  return "";
}

}  // namespace

std::shared_ptr<const ElementBody> PluginOp::element_body(const Apply& node) const {
  const PluginOpTable& table = instance_->table();
  if (table.element_names.empty()) return nullptr;
  auto body = std::make_shared<ElementBody>();
  body->op = table.name;
  for (std::size_t i = 0; i < table.properties.size(); ++i)
    body->operation += constant_text(table.properties[i].name, instance_->values()[i]);
  body->operation += table.functions.element_body;
  auto name = table.element_names.begin();
  for (const Variable& input : node.inputs())
    body->inputs.push_back({*name++, input.type().dtype()});
  for (const Variable& output : node.outputs())
    body->outputs.push_back({*name++, output.type().dtype()});
  return body;
}

}  // namespace spanwise::op_sdk
