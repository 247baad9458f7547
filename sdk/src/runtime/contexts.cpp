// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "core/string_utils.hpp"
#include "spanwise/config.hpp"
#include "spanwise/devices.hpp"
#include "spanwise/error.hpp"

// Named devices: a program groups its parts by name, and the user maps names to devices (Theano's
// `contexts` flag).
namespace spanwise {
namespace {

using Contexts = std::vector<std::pair<std::string, Device>>;

bool names_a_device(std::string_view word) {
  try {
    Device::parse(word);
    return true;
  } catch (const ArgumentError&) {
    return false;
  }
}

std::pair<std::string, Device> context_in(std::string_view pair) {
  const std::size_t arrow = pair.find("->");
  if (arrow == std::string_view::npos)
    fail<ArgumentError>("contexts: \"", pair,
                        "\" maps nothing; expected \"name->device\", such as dev0->cuda:0");
  const std::string_view name = trimmed(pair.substr(0, arrow));
  if (name.empty() || names_a_device(name))
    fail<ArgumentError>("contexts: \"", name,
                        "\" cannot name a context; expected a word that names no device");
  return {std::string(name), Device::parse(trimmed(pair.substr(arrow + 2)))};
}

// Later entries override earlier ones of the same name.
Contexts contexts_in(std::string_view list) {
  Contexts all;
  for (const std::string_view pair : split(list, ';'))
    if (!trimmed(pair).empty()) all.push_back(context_in(trimmed(pair)));
  return all;
}

void check_contexts(std::string_view value) { contexts_in(value); }

[[maybe_unused]] const bool contexts_declared =
    config::declare({.name = "contexts",
                     .description = "names for devices: \"dev0->cuda:0;dev1->cuda:1\"",
                     .default_value = {},
                     .check = check_contexts});

}  // namespace

std::optional<Device> find_context(std::string_view name) {
  std::optional<Device> found;
  for (const auto& [known, device] : contexts_in(config::get("contexts")))
    if (known == name) found = device;
  return found;
}

Device named_device(std::string_view name) {
  if (const auto device = find_context(name)) return *device;
  try {
    return Device::parse(name);
  } catch (const ArgumentError& error) {
    const std::string known =
        joined(contexts_in(config::get("contexts")), ", ", &Contexts::value_type::first);
    fail<ArgumentError>(
        error.what(),
        known.empty() ? ", or a context that sw.using() names" : ", or one of the contexts ",
        known);
  }
}

}  // namespace spanwise
