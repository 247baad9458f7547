// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>

#include "spanwise/core/device.hpp"

/// Errors of collective work that was aborted while it was queued on a GPU: its results are
/// incomplete, which is reported when the host next waits for that device.
namespace spanwise::runtime {

/// Makes the next wait of the host for work of `device` throw CollectiveError with `reason`. Only
/// the first reason is kept until then.
void fail_next_wait(Device device, const std::string& reason) noexcept;

extern std::atomic<bool> any_wait_fails;
void throw_failed_wait(Device device);
/// Throws the error of fail_next_wait() once. Call after each wait of the host for `device`.
inline void check_wait(Device device) {
  if (any_wait_fails.load(std::memory_order_acquire)) [[unlikely]]
    throw_failed_wait(device);
}

}  // namespace spanwise::runtime
