// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/streams/ordering.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise {
namespace runtime {

void wait_for(StreamState& stream, StreamState& other) {
  if (other.device().is_cpu() || same_queue(stream, other)) return;
  if (stream.device().is_cpu())
    other.record(/*timing=*/false)->synchronize();
  else
    stream.wait(*other.record(/*timing=*/false));
}

void order_after_others(StreamState& stream, const StreamUses& uses, bool writes) {
  uses.for_each_to_wait_for(stream, writes, [&](StreamIdentity& other) {
    wait_for(stream, static_cast<StreamState&>(other));
  });
}

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

}  // namespace runtime

void fail_next_wait(Device device, const std::string& reason) noexcept {
  runtime::FailedWaits& failed = runtime::failed_waits();
  const std::lock_guard lock(failed.mutex);
  if (failed.find(device) != failed.reasons.end()) return;
  failed.reasons.emplace_back(device, reason);
  runtime::any_wait_fails.store(true, std::memory_order_release);
}

void order_use(const Stream& stream, const Array& array, bool writes) {
  runtime::order_use(stream.state(), array.storage(), writes);
}

void order_host_use(const Array& array, bool writes) {
  if (!array.storage() || array.storage().uses().none()) return;
  order_use(Stream::current(cpu), array, writes);
}

}  // namespace spanwise
