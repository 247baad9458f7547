// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/export.hpp"

namespace spanwise::runtime {

/// config "kernel_check": which checks a launch makes. Cached: cheap enough for each launch.
struct KernelCheck {
  bool bounds = false;  ///< accesses outside the arguments' arrays
  bool order = false;   ///< a result that depends on the order of threads
  bool any() const noexcept { return bounds || order; }
};
SW_API KernelCheck kernel_check();

}  // namespace spanwise::runtime
