// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/module_state.hpp"
#include "runtime/backend.hpp"
#include "runtime/kernel_check.hpp"
#include "spanwise/kernels/kernel.hpp"

namespace spanwise::kernels {

/// The last steps of every launch: binds the arguments, orders the stream after earlier work on
/// their arrays, and queues `kernel`, which is the function's or one compiled from the same source.
/// `check` may be null. Throws KernelArgumentError, ReadOnlyError, DeviceError.
void queue_launch(const KernelState& function, runtime::LoadedKernel& kernel,
                  const LaunchConfig& config, std::span<const KernelArg> arguments,
                  const runtime::LaunchCheck* check);

/// A launch under config "kernel_check". The kernel, recompiled with checks where its source is
/// available, runs on copies of its arrays between guard zones and, on the CPU, of its variables;
/// for "order" in several orders of threads. Throws KernelFaultError for a fault, with all memory
/// unchanged. Else the CPU then runs the kernel itself, and a GPU copies the result to the arrays.
/// Waits for the device.
void checked_launch(const KernelState& function, const LaunchConfig& config,
                    std::span<const KernelArg> arguments, runtime::KernelCheck check);

}  // namespace spanwise::kernels
