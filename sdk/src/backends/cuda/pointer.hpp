// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "spanwise/device.hpp"

namespace spanwise::cuda {

/// Backend::device_of: cuda, cuda_host or cuda_managed with the ordinal of the device that the
/// memory was made for.
std::optional<Device> device_of(const void* address);

}  // namespace spanwise::cuda
