// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/device.hpp"

namespace spanwise {

/// Where results of work on memory of `device` live: there, but pinned and managed memory is the
/// host's.
constexpr Device working_device(Device device) noexcept {
  return device.is_cuda() || device.is_cpu() ? device : cpu;
}

}  // namespace spanwise
