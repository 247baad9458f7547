// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "spanwise/op_sdk.hpp"
#include "spanwise/plugin.h"

namespace spanwise::op_sdk {

/// A property as its op declares it.
struct PluginProperty {
  std::string name;
  OpProperty value;  ///< of the declared kind; what holds where none is given
  bool required;
};

/// One op of a plug-in, read and found to hold together. Never goes away, as its library.
struct PluginOpTable {
  std::string name;  ///< "signal.window"
  std::string summary;
  sw_op functions;  ///< the library's own table, whatever its size, in ours
  std::vector<PluginProperty> properties;
  AliasMap views, overwrites;
  std::vector<int> reusable_inputs;

  bool has(std::uint32_t flag) const noexcept { return (functions.flags & flag) != 0; }
};

struct PluginTable {
  std::string name_space;
  std::vector<PluginOpTable> ops;
};

/// What stands in a plug-in's own table. Throws GraphError naming `library`, the op and what does
/// not hold together.
PluginTable read_plugin_table(const sw_plugin& plugin, const std::string& library);

/// The property behind a value of the interface, whose kind is a known one.
OpProperty property_of(const sw_value& value);

}  // namespace spanwise::op_sdk
