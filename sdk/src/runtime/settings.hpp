// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace spanwise::runtime {

/// The value of config "device" for the first GPU, else the CPU.
inline constexpr const char* automatic_device = "auto";

/// config "launch_blocking": whether to synchronise the stream after each kernel and copy. Cached:
/// cheap enough for each launch.
bool launch_blocking();

/// config "kernel_check": which checks a launch makes. Cached: cheap enough for each launch.
struct KernelCheck {
  bool bounds = false;  ///< accesses outside the arguments' arrays
  bool order = false;   ///< races: results that depend on the order of threads
  bool any() const noexcept { return bounds || order; }
};
KernelCheck kernel_check();

}  // namespace spanwise::runtime
