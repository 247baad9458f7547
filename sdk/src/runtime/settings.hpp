// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/export.hpp"

namespace spanwise::runtime {

/// config "device": the first GPU, else the CPU.
inline constexpr const char* automatic_device = "auto";

/// config "launch_blocking": whoever queues a kernel or a copy then waits for the stream. Cheap
/// enough for each launch.
SW_API bool launch_blocking();

}  // namespace spanwise::runtime
