// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <mutex>
#include <utility>

#include "core/string_utils.hpp"
#include "spanwise/runtime/communicator.hpp"

namespace spanwise {
namespace {

struct EngineTypes {
  Mutex mutex;
  std::map<std::string, CommunicatorEngineType, std::less<>> types;
};
EngineTypes& engine_types() {
  static auto& types = *new EngineTypes;
  return types;
}

}  // namespace

bool register_communicator_engine(CommunicatorEngineType type) {
  EngineTypes& registered = engine_types();
  const std::lock_guard lock(registered.mutex);
  std::string name = type.name;
  return registered.types.emplace(std::move(name), std::move(type)).second;
}

const CommunicatorEngineType& communicator_engine(std::string_view name) {
  EngineTypes& registered = engine_types();
  const std::lock_guard lock(registered.mutex);
  const auto entry = registered.types.find(name);
  if (entry != registered.types.end()) return entry->second;
  const auto name_of = [](const auto& engine) { return engine.first; };
  fail<ArgumentError>("collectives: expected an engine of the library, one of ",
                      joined(registered.types, ", ", name_of), ", got \"", name, '"');
}

}  // namespace spanwise
