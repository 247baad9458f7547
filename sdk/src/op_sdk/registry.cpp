// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>
#include <ranges>
#include <utility>

#include "core/string_utils.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/op_sdk.hpp"

namespace spanwise {
namespace {

struct OpRegistry {
  Mutex mutex;
  std::map<std::string, OpFactoryWithProperties, std::less<>> factories;
};

// Never destroyed: plug-ins and static objects may use it until the process exits.
OpRegistry& registry() {
  static OpRegistry& registry = *new OpRegistry;
  return registry;
}

}  // namespace

bool register_op(std::string name, OpFactory factory) {
  if (!factory) fail<ArgumentError>("register_op: ", name, " has no factory");
  return register_op(name, [name, make = std::move(factory)](const OpProperties& properties) {
    if (!properties.empty())
      fail<ArgumentError>(name, ": takes no property, got ", properties.begin()->first);
    return make();
  });
}

bool register_op(std::string name, OpFactoryWithProperties factory) {
  OpRegistry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (!factory) fail<ArgumentError>("register_op: ", name, " has no factory");
  const bool is_new = all.factories.emplace(name, std::move(factory)).second;
  if (!is_new)
    fail<ArgumentError>("register_op: an op named ", name,
                        " is registered already; choose another name, such as <yours>.", name);
  return true;
}

Ref<const Op> make_op(std::string_view name, const OpProperties& properties) {
  OpFactoryWithProperties factory;
  {
    OpRegistry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto entry = all.factories.find(name);
    if (entry != all.factories.end()) factory = entry->second;
  }
  if (!factory) {
    const bool is_of_plugin = name.find('.') != std::string_view::npos;
    fail<ArgumentError>("there is no op named ", name,
                        is_of_plugin ? "; load its library first by load_ops()" : "",
                        "; the registered ops are ", joined(op_names()));
  }
  Ref<const Op> op = factory(properties);
  if (op) op->set_recipe({std::string(name), properties});
  return op;
}

void expect_properties(std::string_view op, const OpProperties& properties,
                       std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : properties)
    if (std::ranges::find(known, name) == known.end())
      fail<ArgumentError>(op, ": takes no property ", name);
}

std::vector<std::string> op_names() {
  OpRegistry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto names = std::views::keys(all.factories);
  return {names.begin(), names.end()};
}

}  // namespace spanwise
