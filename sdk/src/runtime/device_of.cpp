// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>

#include "runtime/backend.hpp"
#include "spanwise/devices.hpp"

namespace spanwise {

std::optional<Device> device_of(const void* address) {
  // Ordinary host memory is nobody's, so only device back ends are asked.
  runtime::Backend* cuda = runtime::find_backend(DeviceKind::cuda);
  if (cuda == nullptr || address == nullptr || cuda->device_count() == 0) return std::nullopt;
  return cuda->device_of(address);
}

}  // namespace spanwise
