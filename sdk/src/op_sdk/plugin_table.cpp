// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "op_sdk/plugin_table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
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
    read_conditions();
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

  void read_conditions() {
    const sw_op& op = table_.functions;
    for (const sw_condition& each : list(op.needed_if, op.needed_if_count, "needed_if")) {
      expect(table_.has(SW_LAZY) && is_input(each.input) && is_input(each.condition) &&
                 each.input != each.condition,
             "needed_if names input ", each.input, " and condition ", each.condition,
             "; expected two of its inputs, and SW_LAZY in flags");
      table_.needed_if[each.input] = {each.condition, each.is_true != 0};
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

/// Reads and checks the gradient_op of one op; its members throw GraphError naming the op.
class GradientReader {
 public:
  GradientReader(const PluginOpTable& op, const PluginTable& table, const std::string& library)
      : op_(op.functions), table_(op), prefix_(text(library, ": op ", op.name, ": ")) {
    const std::string name = text(table.name_space, ".", op_.gradient_op);
    const auto gradient = std::ranges::find(table.ops, name, &PluginOpTable::name);
    expect(gradient != table.ops.end(), "its gradient_op ", op_.gradient_op,
           " is no op of the library; expected the name of one");
    gradient_ = &*gradient;
  }

  PluginGradient read() const { return {gradient_->name, inputs(), wrt(), properties()}; }

 private:
  template <class... Parts>
  void expect(bool condition, const Parts&... message) const {
    if (!condition) fail<GraphError>(prefix_, message...);
  }

  std::optional<std::vector<sw_gradient_input>> inputs() const {
    const bool is_listed = op_.gradient_inputs != nullptr;
    expect(is_listed || op_.gradient_input_count == 0, "gradient_inputs are ",
           op_.gradient_input_count, " at no address; expected an array of that many");
    std::optional<std::vector<sw_gradient_input>> list;
    if (is_listed)
      list.emplace(op_.gradient_inputs,
                   op_.gradient_inputs + std::max(op_.gradient_input_count, 0));
    const int count = is_listed ? op_.gradient_input_count : op_.input_count + 2 * op_.output_count;
    const int expected = gradient_->functions.input_count;
    const bool accepts_more = gradient_->has(SW_MORE_INPUTS);
    const bool is_fixed = is_listed || !table_.has(SW_MORE_INPUTS);
    expect(accepts_more ? count >= expected : count == expected && is_fixed,
           "gives its gradient_op ", gradient_->name, " ", count, is_fixed ? "" : " or more",
           " inputs; expected ", accepts_more ? "at least " : "", expected);
    for (const sw_gradient_input& input : list.value_or(std::vector<sw_gradient_input>())) {
      expect(input.kind >= SW_FROM_INPUT && input.kind <= SW_FROM_GRADIENT,
             "gradient_inputs has kind ", input.kind, "; expected SW_FROM_INPUT to ",
             "SW_FROM_GRADIENT");
      const int bound = input.kind == SW_FROM_INPUT ? op_.input_count : op_.output_count;
      expect(input.index >= 0 && input.index < bound, "gradient_inputs has ",
             input.kind == SW_FROM_INPUT ? "input " : "output ", input.index, " of ", bound);
    }
    return list;
  }

  std::vector<int> wrt() const {
    const int outputs = gradient_->functions.output_count;
    std::vector<int> list(static_cast<std::size_t>(outputs));
    std::iota(list.begin(), list.end(), 0);
    const bool is_listed = op_.gradient_wrt != nullptr;
    expect(!is_listed || op_.gradient_wrt_count == outputs, "gradient_wrt names ",
           op_.gradient_wrt_count, " inputs, and its gradient_op ", gradient_->name, " has ",
           outputs, " outputs; expected as many");
    if (is_listed) list.assign(op_.gradient_wrt, op_.gradient_wrt + outputs);
    for (std::size_t i = 0; i < list.size(); ++i)
      expect(list[i] >= 0 && list[i] < op_.input_count && std::ranges::count(list, list[i]) == 1,
             "output ", i, " of its gradient_op ", gradient_->name,
             " is the derivative with respect to input ", list[i], "; expected distinct inputs of ",
             op_.input_count);
    return list;
  }

  std::vector<std::string> properties() const {
    std::vector<std::string> names;
    for (const auto& [name, value, required] : gradient_->properties) {
      const auto own = std::ranges::find(table_.properties, name, &PluginProperty::name);
      const bool is_passed = own != table_.properties.end() && own->value.index() == value.index();
      expect(is_passed || !required, "its gradient_op ", gradient_->name, " requires the property ",
             name, "; expected one of that name and kind here");
      if (is_passed) names.push_back(name);
    }
    return names;
  }

  const sw_op& op_;
  const PluginOpTable& table_;
  std::string prefix_;
  const PluginOpTable* gradient_ = nullptr;
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
  for (PluginOpTable& op : table.ops)
    if (op.functions.gradient_op != nullptr)
      op.gradient = GradientReader(op, table, library).read();
  return table;
}

}  // namespace spanwise::op_sdk
