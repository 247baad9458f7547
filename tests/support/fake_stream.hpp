// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/core/storage.hpp"

namespace spanwise::test {

/// A stream without a queue, for tests that need its identity only.
class FakeStream final : public StreamIdentity {
 public:
  explicit FakeStream(Device device = Device(DeviceKind::cuda)) noexcept : StreamIdentity(device) {}

  /// Releases at once. Counts the streams that a producer stream has to wait for first, and leaks
  /// the memory if it cannot.
  void release_memory(const UnheldMemory& memory, StreamUses& uses) noexcept override {
    if (uses.producer() != nullptr && !uses.only_producer_used()) {
      streams_waited_for += static_cast<int>(uses.all().size());
      if (!can_wait) return;
    }
    memory.release(memory.context, memory.data, memory.bytes, uses);
  }

  int streams_waited_for = 0;
  bool can_wait = true;
};

}  // namespace spanwise::test
