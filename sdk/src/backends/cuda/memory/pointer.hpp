// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "spanwise/core/device.hpp"
#include "spanwise/runtime/devices.hpp"

namespace spanwise::cuda {

/// Backend::device_of: cuda, cuda_host or cuda_managed, with the ordinal of the device that the
/// memory was allocated for.
std::optional<Device> device_of(const void* address);
/// Backend::context_of and Backend::current_context.
std::optional<GpuContext> context_of(const void* address);
std::optional<GpuContext> current_context();

}  // namespace spanwise::cuda
