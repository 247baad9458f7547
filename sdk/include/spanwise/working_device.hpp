// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/device.hpp"
#include "spanwise/export.hpp"

namespace spanwise {

class Array;

/// The device of results computed from memory of `device`: the same, but the CPU for pinned and
/// managed memory.
constexpr Device working_device(Device device) noexcept {
  const bool is_host =
      device.kind() == DeviceKind::cuda_host || device.kind() == DeviceKind::cuda_managed;
  return is_host ? cpu : device;
}

/// Whether the CPU computes on memory of `device`. Work on other devices is queued on a stream.
constexpr bool runs_on_host(Device device) noexcept { return working_device(device).is_cpu(); }

/// Whether one operation can access memory of both.
constexpr bool work_together(Device a, Device b) noexcept {
  return a == b || (runs_on_host(a) && runs_on_host(b));
}

/// Waits for queued work that conflicts with a use of the array by the CPU, and records the use.
/// Does nothing if no stream uses the memory, as is the rule for memory of the CPU.
SW_API void order_host_use(const Array& array, bool writes);

}  // namespace spanwise
