// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/device.hpp"

namespace spanwise {

/// The device of results computed from memory of `device`: the same, but the CPU for pinned and
/// managed memory.
constexpr Device working_device(Device device) noexcept {
  return device.is_cuda() || device.is_cpu() ? device : cpu;
}

}  // namespace spanwise
