// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/core/export.hpp"

namespace spanwise::runtime {

/// The value of config "device" for the first GPU, else the CPU.
inline constexpr const char* automatic_device = "auto";

/// config "launch_blocking": whether to synchronise the stream after each kernel and copy. Cached:
/// cheap enough for each launch.
SW_API bool launch_blocking();

}  // namespace spanwise::runtime
