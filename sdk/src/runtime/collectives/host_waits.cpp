// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/collectives/host_waits.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "spanwise/runtime/communicator.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::runtime {

std::atomic<bool> any_wait_fails{false};

namespace {

struct FailedWaits {
  Mutex mutex;
  std::vector<std::pair<Device, std::string>> reasons;

  auto find(Device device) {
    return std::ranges::find_if(reasons, [&](const auto& each) { return each.first == device; });
  }
};
// Never destroyed: threads may use it until the process exits.
FailedWaits& failed_waits() {
  static auto& waits = *new FailedWaits;
  return waits;
}

}  // namespace

void fail_next_wait(Device device, const std::string& reason) noexcept {
  FailedWaits& failed = failed_waits();
  const std::lock_guard lock(failed.mutex);
  if (failed.find(device) != failed.reasons.end()) return;
  failed.reasons.emplace_back(device, reason);
  any_wait_fails.store(true, std::memory_order_release);
}

void throw_failed_wait(Device device) {
  FailedWaits& failed = failed_waits();
  std::string reason;
  {
    const std::lock_guard lock(failed.mutex);
    const auto entry = failed.find(device);
    if (entry == failed.reasons.end()) return;
    reason = std::move(entry->second);
    failed.reasons.erase(entry);
    any_wait_fails.store(!failed.reasons.empty(), std::memory_order_release);
  }
  fail<CollectiveError>("waiting for ", device,
                        ": collective work was ended before it was complete, "
                        "so results that depend on it are not valid: ",
                        reason);
}

}  // namespace spanwise::runtime
