// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "runtime/collectives/pending.hpp"
#include "spanwise/runtime/communicator.hpp"

namespace spanwise {
namespace {

// The open communicators, and the numbers of the next graph nodes that use them, by name. Never
// destroyed: threads may use them until the process exits.
struct CommunicatorNames {
  Mutex mutex;
  std::map<std::string, Communicator*, std::less<>> open;
  std::map<std::string, std::int64_t, std::less<>> next_node;
};
CommunicatorNames& communicator_names() {
  static auto& names = *new CommunicatorNames;
  return names;
}

}  // namespace

Communicator::~Communicator() {
  CommunicatorNames& names = communicator_names();
  const std::lock_guard lock(names.mutex);
  // Another communicator may have the name: make() refused this one, or gave it away.
  const auto entry = names.open.find(name());
  if (entry != names.open.end() && entry->second == this) names.open.erase(entry);
}

Ref<Communicator> Communicator::make(Options options, Ref<CommunicatorEngine> engine,
                                     Ref<CommunicatorMonitor> monitor) {
  if (options.size < 1 || options.rank < 0 || options.rank >= options.size)
    fail<ArgumentError>("communicator: expected a rank from 0 to size - 1, got rank ", options.rank,
                        " of ", options.size);
  Ref<Communicator> result(
      new Communicator(std::move(options), std::move(engine), std::move(monitor)));
  CommunicatorNames& names = communicator_names();
  const std::lock_guard lock(names.mutex);
  Communicator*& named = names.open[result->name()];
  // Without references, its destructor waits for the mutex on another thread.
  if (named != nullptr && named->use_count() > 0)
    fail<ArgumentError>("communicator: the name \"", result->name(),
                        "\" is in use; close the other one, or pass another name=");
  named = result.get();
  return result;
}

Ref<Communicator> Communicator::find(std::string_view name) {
  CommunicatorNames& names = communicator_names();
  const std::lock_guard lock(names.mutex);
  const auto entry = names.open.find(name);
  if (entry == names.open.end() || !entry->second->try_add_ref()) return nullptr;
  return Ref<Communicator>::adopt(entry->second);
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
