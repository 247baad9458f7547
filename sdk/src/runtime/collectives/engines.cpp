// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <mutex>
#include <utility>

#include "spanwise/communicator.hpp"

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
  const auto found = registered.types.find(name);
  if (found != registered.types.end()) return found->second;
  std::string all;
  for (const auto& [each, type] : registered.types) all += (all.empty() ? "" : ", ") + each;
  fail<ArgumentError>("collectives: there is no engine \"", name, "\" in the library; it has ",
                      all);
}

}  // namespace spanwise
