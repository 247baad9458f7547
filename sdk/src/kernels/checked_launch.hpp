// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/module_state.hpp"
#include "runtime/backend.hpp"
#include "runtime/kernel_check.hpp"
#include "spanwise/kernel.hpp"

namespace spanwise::kernels {

/// The last steps of every launch: binds the arguments, orders their arrays, and queues `kernel`,
/// which is the function's or one compiled from the same source. Throws KernelArgumentError,
/// ReadOnlyError, DeviceError.
void queue_launch(const FunctionState& function, runtime::LoadedKernel& kernel,
                  const LaunchConfig& config, std::span<const KernelArg> arguments,
                  const runtime::LaunchCheck* check);

/// A launch under config "kernel_check": the kernel, compiled anew so that it can be checked where
/// its source is known, runs on copies of its arrays with guard zones around them, where the device
/// can in several orders of threads. What the first run made is then copied to the arrays; they
/// stay as they were where something was found, which a DeviceError tells. Waits for the device.
void checked_launch(const FunctionState& function, const LaunchConfig& config,
                    std::span<const KernelArg> arguments, runtime::KernelCheck check);

}  // namespace spanwise::kernels
