// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/storage.hpp"

namespace spanwise::test {

/// A stream without a queue, for tests that only ask which one it is.
class FakeStream final : public StreamIdentity {
 public:
  explicit FakeStream(Device device = Device(DeviceKind::cuda)) noexcept : StreamIdentity(device) {}
};

}  // namespace spanwise::test
