// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "runtime/collectives/pending.hpp"
#include "spanwise/communicator.hpp"

namespace spanwise {
namespace {

// The open communicators and the numbers of graph nodes, by name. Never destroyed: threads may use
// them until the process exits.
struct CommunicatorNames {
  Mutex mutex;
  std::map<std::string, Communicator*, std::less<>> open;
  std::map<std::string, std::int64_t, std::less<>> next_node;
};
CommunicatorNames& communicator_names() {
  static auto& names = *new CommunicatorNames;
  return names;
}

void forget_name(const Communicator& communicator) noexcept {
  CommunicatorNames& names = communicator_names();
  const std::lock_guard lock(names.mutex);
  const auto found = names.open.find(communicator.name());
  if (found != names.open.end() && found->second == &communicator) names.open.erase(found);
}

}  // namespace

Communicator::~Communicator() { forget_name(*this); }

Ref<Communicator> Communicator::make(Options options, Ref<CommunicatorEngine> engine,
                                     Ref<CommunicatorMonitor> monitor) {
  if (options.size < 1 || options.rank < 0 || options.rank >= options.size)
    fail<ArgumentError>("communicator: expected a rank from 0 to size - 1, got rank ", options.rank,
                        " of ", options.size);
  Ref<Communicator> result(
      new Communicator(std::move(options), std::move(engine), std::move(monitor)));
  CommunicatorNames& names = communicator_names();
  const std::lock_guard lock(names.mutex);
  if (!names.open.emplace(result->name(), result.get()).second)
    fail<ArgumentError>("communicator: the name \"", result->name(),
                        "\" is in use; close the other one, or pass another name=");
  return result;
}

Ref<Communicator> Communicator::find(std::string_view name) {
  CommunicatorNames& names = communicator_names();
  const std::lock_guard lock(names.mutex);
  const auto found = names.open.find(name);
  return found == names.open.end() ? nullptr : Ref<Communicator>(found->second);
}

std::int64_t Communicator::next_node(std::string_view name) {
  CommunicatorNames& names = communicator_names();
  const std::lock_guard lock(names.mutex);
  return names.next_node[std::string(name)]++;
}

void Communicator::note_node(std::string_view name, std::int64_t used) {
  CommunicatorNames& names = communicator_names();
  const std::lock_guard lock(names.mutex);
  std::int64_t& next = names.next_node[std::string(name)];
  next = std::max(next, used + 1);
}

}  // namespace spanwise
