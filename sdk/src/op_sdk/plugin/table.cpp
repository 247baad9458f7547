// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "op_sdk/plugin/table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <span>

#include "core/string_utils.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::op_sdk {
namespace {

// Sizes in bytes in version 1.0; later tables are longer.
constexpr std::size_t min_plugin_bytes = offsetof(sw_plugin, ops) + sizeof(sw_plugin::ops);
constexpr std::size_t min_op_bytes = offsetof(sw_op, run) + sizeof(sw_op::run);
// The size in version 1.2, which added gradient_op and element_body.
constexpr std::size_t op_bytes_of_1_2 =
    offsetof(sw_op, element_names) + sizeof(sw_op::element_names);

bool is_python_name(const char* name) { return name != nullptr && is_identifier(name); }

const char* or_none(const char* name) { return name == nullptr ? "none" : name; }

/// Reads and checks one sw_op; its members throw GraphError naming the op.
class OpReader {
 public:
  OpReader(const sw_op& op, const std::string& name_space, const std::string& library)
      : prefix_(text(library, ": op ", name_space, ".")) {
    expect(op.struct_size >= min_op_bytes, "?: its table has ", op.struct_size,
           " bytes; expected at least ", min_op_bytes,
           ": set struct_size to sizeof(sw_op), and build it with <spanwise/plugin.h>");
    std::memcpy(&table_.functions, &op, std::min<std::size_t>(op.struct_size, sizeof(sw_op)));
    if (op.struct_size < op_bytes_of_1_2)
      table_.functions.gradient_op = table_.functions.element_body = nullptr;
    expect(is_python_name(op.name), or_none(op.name), ": is no name; expected letters, digits, _");
    table_.name = text(name_space, ".", op.name);
    prefix_ += text(op.name, ": ");
    if (op.summary != nullptr) table_.summary = op.summary;
  }

  PluginOpTable read() && {
    const sw_op& op = table_.functions;
    expect(op.infer != nullptr && op.run != nullptr, "has no ",
           op.infer == nullptr ? "infer" : "run", "; expected both functions");
    expect((op.create == nullptr) == (op.destroy == nullptr),
           "has one of create and destroy; expected both or none");
    expect((op.bind == nullptr) == (op.unbind == nullptr),
           "has one of bind and unbind; expected both or none");
    expect(table_.has(SW_ON_CPU | SW_ON_GPU), "runs nowhere; set SW_ON_CPU or SW_ON_GPU in flags");
    expect(op.input_count >= 0 && op.output_count >= 1, "has ", op.input_count, " inputs and ",
           op.output_count, " outputs; expected at least 0 and 1");
    read_properties();
    table_.views = aliases(op.views, op.view_count, "views");
    table_.overwrites = aliases(op.overwrites, op.overwrite_count, "overwrites");
    read_reusable();
    read_element_names();
    expect(!table_.has(SW_LAZY) || (table_.views.empty() && table_.overwrites.empty() &&
                                    table_.reusable_inputs.empty()),
           "is SW_LAZY, and shares memory with inputs; expected no views, overwrites and "
           "reusable_inputs");
    return std::move(table_);
  }

 private:
  template <class... Parts>
  void expect(bool condition, const Parts&... message) const {
    if (!condition) fail<GraphError>(prefix_, message...);
  }

  template <class T>
  std::span<const T> list(const T* first, std::int32_t count, const char* member) const {
    expect(count >= 0 && (count == 0 || first != nullptr), member, " are ", count,
           first == nullptr ? " at no address" : "", "; expected an array of that many");
    return {first, static_cast<std::size_t>(count)};
  }

  bool is_input(int input) const {
    return input >= 0 && (input < table_.functions.input_count || table_.has(SW_MORE_INPUTS));
  }

  void read_properties() {
    std::set<std::string> names;
    for (const sw_property& property :
         list(table_.functions.properties, table_.functions.property_count, "properties")) {
      expect(is_python_name(property.name), "a property is named ", or_none(property.name),
             "; expected a name in Python");
      expect(names.insert(property.name).second, "has two properties ", property.name);
      expect(property.value.kind >= SW_BOOL && property.value.kind <= SW_INTS, "property ",
             property.name, " is of kind ", property.value.kind, "; expected SW_BOOL to SW_INTS");
      table_.properties.push_back(
          {property.name, property_of(property.value), property.required != 0});
    }
  }

  AliasMap aliases(const sw_alias* first, std::int32_t count, const char* member) const {
    AliasMap map;
    for (const sw_alias& alias : list(first, count, member)) {
      expect(alias.output >= 0 && alias.output < table_.functions.output_count &&
                 is_input(alias.input),
             member, " names output ", alias.output, " and input ", alias.input,
             "; expected ones that it has");
      map[alias.output].push_back(alias.input);
    }
    return map;
  }

  void read_reusable() {
    const sw_op& op = table_.functions;
    for (const int input : list(op.reusable_inputs, op.reusable_count, "reusable_inputs")) {
      expect(is_input(input) && op.output_count == 1 && op.overwrite_count == 0,
             "reusable_inputs names input ", input, " of ", op.input_count, " for ",
             op.output_count, " outputs; expected one of its inputs, one output, no overwrites");
      table_.reusable_inputs.push_back(input);
    }
  }

  void read_element_names() {
    const sw_op& op = table_.functions;
    if (op.element_body == nullptr) return;
    expect(!table_.has(SW_MORE_INPUTS | SW_NOT_PURE | SW_LAZY) && table_.views.empty() &&
               table_.overwrites.empty(),
           "has an element_body; expected a fixed number of inputs, no views and overwrites, and "
           "no SW_NOT_PURE or SW_LAZY");
    for (const char* name :
         list(op.element_names, op.input_count + op.output_count, "element_names")) {
      expect(is_python_name(name), "element_names has ", or_none(name), "; expected a name in C");
      table_.element_names.emplace_back(name);
    }
  }

  std::string prefix_;
  PluginOpTable table_{};
};

}  // namespace

OpProperty property_of(const sw_value& value) {
  if (value.kind == SW_BOOL) return value.as.integer != 0;
  if (value.kind == SW_INT) return value.as.integer;
  if (value.kind == SW_REAL) return value.as.real;
  if (value.kind == SW_TEXT) return std::string(value.as.text == nullptr ? "" : value.as.text);
  const std::int64_t* const first = value.as.integers;
  return first == nullptr ? std::vector<std::int64_t>()
                          : std::vector<std::int64_t>(first, first + std::max(value.count, 0));
}

PluginTable read_plugin_table(const sw_plugin& plugin, const std::string& library) {
  if (plugin.abi_major != SW_PLUGIN_ABI_MAJOR)
    fail<GraphError>(library, ": is a plug-in of version ", plugin.abi_major, ".", plugin.abi_minor,
                     " of the interface; expected version ", SW_PLUGIN_ABI_MAJOR,
                     ": build it with this Spanwise's <spanwise/plugin.h>");
  if (plugin.struct_size < min_plugin_bytes)
    fail<GraphError>(library, ": its table has ", plugin.struct_size, " bytes; expected at least ",
                     min_plugin_bytes, ": set struct_size to sizeof(sw_plugin)");
  if (!is_python_name(plugin.name_space))
    fail<GraphError>(library, ": its namespace is ", or_none(plugin.name_space),
                     "; expected a name in Python");
  if (plugin.op_count <= 0 || plugin.ops == nullptr)
    fail<GraphError>(library, ": has ", plugin.op_count,
                     " ops; expected at least one, and an array of their tables");
  PluginTable table{plugin.name_space, {}};
  std::set<std::string> names;
  for (std::int32_t i = 0; i < plugin.op_count; ++i) {
    if (plugin.ops[i] == nullptr) fail<GraphError>(library, ": op ", i, " has no table");
    table.ops.push_back(OpReader(*plugin.ops[i], table.name_space, library).read());
    if (!names.insert(table.ops.back().name).second)
      fail<GraphError>(library, ": has two ops named ", table.ops.back().name);
  }
  read_gradients(table, library);
  return table;
}

}  // namespace spanwise::op_sdk
