// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spanwise/op_sdk.hpp"
#include "spanwise/plugin.h"

namespace spanwise::op_sdk {

/// A declared property.
struct PluginProperty {
  std::string name;
  OpProperty value;  ///< the default, of the declared kind
  bool required;
};

/// How an op of the same library computes derivatives.
struct PluginGradient {
  std::string op;  ///< "signal.window_gradient"
  /// nullopt: all inputs and outputs of the node, and the derivatives of all outputs.
  std::optional<std::vector<sw_gradient_input>> inputs;
  /// Per output of that op: the input of this op with respect to which it is the derivative.
  std::vector<int> wrt;
  std::vector<std::string> properties;  ///< the properties of this op that it gets
};

/// One op of a plug-in, checked for consistency. Never destroyed, as its library is never unloaded.
struct PluginOpTable {
  std::string name;  ///< "signal.window"
  std::string summary;
  sw_op functions;  ///< a copy of the library's table; members beyond its struct_size are zero
  std::vector<PluginProperty> properties;
  AliasMap views, overwrites;
  std::vector<int> reusable_inputs;
  std::map<int, InputCondition> needed_if;  ///< by input
  std::optional<PluginGradient> gradient;
  std::vector<std::string> element_names;  ///< of inputs, then outputs; empty without a body

  bool has(std::uint32_t flag) const noexcept { return (functions.flags & flag) != 0; }
};

struct PluginTable {
  std::string name_space;
  std::vector<PluginOpTable> ops;
};

/// Reads a plug-in's table. Throws GraphError naming `library`, the op and the inconsistency.
PluginTable read_plugin_table(const sw_plugin& plugin, const std::string& library);

/// Converts a value of the C interface, whose kind must be valid.
OpProperty property_of(const sw_value& value);

}  // namespace spanwise::op_sdk
