// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "spanwise/core/export.hpp"

namespace spanwise::runtime {

/// config "kernel_check": which checks a launch makes. Cached: cheap enough for each launch.
struct KernelCheck {
  bool bounds = false;  ///< accesses outside the arguments' arrays
  bool order = false;   ///< races: results that depend on the order of threads
  bool any() const noexcept { return bounds || order; }
};
SW_API KernelCheck kernel_check();

/// Whether one of the 8-byte words of `data` has a value in the range of the addresses of user
/// space. Small integers and most floating-point numbers are outside of it.
SW_API bool may_hold_address(const void* data, std::size_t bytes) noexcept;

}  // namespace spanwise::runtime
