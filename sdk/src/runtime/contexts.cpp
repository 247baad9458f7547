// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "core/string_utils.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/core/error.hpp"

// Named devices: a program groups its parts by name, and the user maps names to devices (Theano's
// `contexts` flag).
namespace spanwise {
namespace {

using Contexts = std::vector<std::pair<std::string, Device>>;

bool is_device_name(std::string_view word) {
  try {
    Device::parse(word);
    return true;
  } catch (const ArgumentError&) {
    return false;
  }
}

std::pair<std::string, Device> parse_context(std::string_view pair) {
  const std::size_t arrow = pair.find("->");
  if (arrow == std::string_view::npos)
    fail<ArgumentError>("contexts: \"", pair,
                        "\" has no \"->\"; expected \"name->device\", such as dev0->cuda:0");
  const std::string_view name = trimmed(pair.substr(0, arrow));
  if (name.empty() || is_device_name(name))
    fail<ArgumentError>("contexts: \"", name,
                        "\" cannot name a context; expected a word that is not a device's name");
  return {std::string(name), Device::parse(trimmed(pair.substr(arrow + 2)))};
}

// In the order of the list; the last entry of a name counts.
Contexts parse_contexts(std::string_view list) {
  Contexts all;
  for (const std::string_view pair : split(list, ';'))
    if (!trimmed(pair).empty()) all.push_back(parse_context(trimmed(pair)));
  return all;
}

[[maybe_unused]] const bool contexts_declared =
    config::declare({.name = "contexts",
                     .description = "names for devices: \"dev0->cuda:0;dev1->cuda:1\"",
                     .default_value = {},
                     .check = [](std::string_view value) { parse_contexts(value); }});

}  // namespace

std::optional<Device> find_context(std::string_view name) {
  std::optional<Device> mapped;
  for (const auto& [context, device] : parse_contexts(config::get("contexts")))
    if (context == name) mapped = device;
  return mapped;
}

Device named_device(std::string_view name) {
  if (const auto device = find_context(name)) return *device;
  try {
    return Device::parse(name);
  } catch (const ArgumentError& error) {
    const std::string known =
        joined(parse_contexts(config::get("contexts")), ", ", &Contexts::value_type::first);
    fail<ArgumentError>(
        error.what(),
        known.empty() ? ", or a context that sw.using() names" : ", or one of the contexts ",
        known);
  }
}

}  // namespace spanwise
