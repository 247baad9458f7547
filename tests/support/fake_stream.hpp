// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/storage.hpp"

namespace spanwise::test {

/// A stream without a queue, for tests that need its identity only.
class FakeStream final : public StreamIdentity {
 public:
  explicit FakeStream(Device device = Device(DeviceKind::cuda)) noexcept : StreamIdentity(device) {}

  /// Releases at once, and records how many streams a producer stream had to wait for.
  void release_memory(const UnheldMemory& memory, StreamUses& uses) noexcept override {
    if (uses.producer() != nullptr && !uses.only_producer_used()) {
      came_after += static_cast<int>(uses.all().size());
      if (!works) return;
    }
    memory.release(memory.context, memory.data, memory.bytes, uses);
  }

  int came_after = 0;
  bool works = true;
};

}  // namespace spanwise::test
