// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "core/string_utils.hpp"
#include "op_sdk/plugin/plugin_op.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::op_sdk {
namespace {

const char* kind_name(const OpProperty& property) {
  constexpr const char* names[] = {"a bool", "an integer", "a number", "a string",
                                   "a list of integers"};
  return names[property.index()];
}

std::string property_text(const OpProperty& property) {
  return std::visit(
      [](const auto& value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, bool>) {
          return value ? "True" : "False";
        } else if constexpr (std::is_same_v<T, std::string>) {
          return text('\'', value, '\'');
        } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
          return text('[', joined(value), ']');
        } else {
          return text(value);
        }
      },
      property);
}

// Converts to the declared type: only integers are converted, to reals.
OpProperty converted(const OpProperty& value, const PluginProperty& declared,
                     const std::string& op) {
  if (value.index() == declared.value.index()) return value;
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer != nullptr && std::holds_alternative<double>(declared.value))
    return static_cast<double>(*integer);
  fail<ArgumentError>(op, ": property ", declared.name, ": expected ", kind_name(declared.value),
                      ", got ", property_text(value));
}

// The values of all properties of the table: those in `properties`, else the defaults.
std::vector<OpProperty> all_values(const PluginOpTable& table, const OpProperties& properties) {
  const auto& declared_properties = table.properties;
  for (const auto& [name, value] : properties)
    if (std::ranges::find(declared_properties, name, &PluginProperty::name) ==
        declared_properties.end())
      fail<ArgumentError>(table.name, ": has no property ", name,
                          declared_properties.empty() ? "; it takes none" : "; its properties are ",
                          joined(declared_properties, ", ", &PluginProperty::name));
  std::vector<OpProperty> values;
  for (const PluginProperty& declared : declared_properties) {
    const auto entry = properties.find(declared.name);
    if (entry == properties.end() && declared.required)
      fail<ArgumentError>(table.name, ": expected a property ", declared.name, ", ",
                          kind_name(declared.value), ": give it by keyword");
    values.push_back(entry == properties.end() ? declared.value
                                               : converted(entry->second, declared, table.name));
  }
  return values;
}

// `property` as a C struct, which points into it.
sw_value value_of(const OpProperty& property) {
  sw_value value{static_cast<std::int32_t>(property.index()) + SW_BOOL, 0, {}};
  if (const auto* flag = std::get_if<bool>(&property)) value.as.integer = *flag;
  if (const auto* integer = std::get_if<std::int64_t>(&property)) value.as.integer = *integer;
  if (const auto* real = std::get_if<double>(&property)) value.as.real = *real;
  if (const auto* string = std::get_if<std::string>(&property)) value.as.text = string->c_str();
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&property)) {
    value.count = static_cast<std::int32_t>(list->size());
    value.as.integers = list->data();
  }
  return value;
}

std::string full_name(const PluginOpTable& table, const std::vector<OpProperty>& values) {
  std::string list;
  for (std::size_t i = 0; i < values.size(); ++i)
    list += text(list.empty() ? "" : ", ", table.properties[i].name, "=", property_text(values[i]));
  return list.empty() ? table.name : text(table.name, "{", list, "}");
}

}  // namespace

PluginInstance::PluginInstance(const PluginOpTable& table, const OpProperties& properties)
    : table_(table),
      values_(all_values(table, properties)),
      name_(full_name(table, values_)),
      op_(table.functions.user_data) {
  if (functions().create == nullptr) return;
  std::vector<sw_value> values;
  values.reserve(values_.size());
  for (const OpProperty& value : values_) values.push_back(value_of(value));
  sw_call call(name_);
  const sw_create create{sizeof(sw_create), static_cast<std::int32_t>(values.size()), &call,
                         values.data()};
  call_plugin(call, functions().create, functions().user_data, &create, &op_);
}

PluginInstance::~PluginInstance() {
  if (functions().destroy != nullptr) functions().destroy(op_);
}

}  // namespace spanwise::op_sdk
