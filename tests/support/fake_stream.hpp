// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/storage.hpp"

namespace spanwise::test {

/// A stream without a queue, for tests that only ask which one it is.
class FakeStream final : public StreamIdentity {
 public:
  explicit FakeStream(Device device = Device(DeviceKind::cuda)) noexcept : StreamIdentity(device) {}

  /// Notes after how many streams it was told to come.
  bool come_after(const StreamUses& uses) noexcept override {
    came_after += static_cast<int>(uses.all().size());
    return works;
  }

  int came_after = 0;
  bool works = true;
};

}  // namespace spanwise::test
