// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "spanwise/device.hpp"
#include "spanwise/export.hpp"

namespace spanwise {

/// A CUDA context. Spanwise uses each GPU's primary context, as everything built on the CUDA
/// runtime does. A program may have created another (pycuda.autoinit does), whose memory must not
/// be used in the primary context.
struct GpuContext {
  Device device{};  ///< for memory: with its kind, such as cuda_managed
  bool primary = false;
};

/// The calling thread's current context; nullopt where there is none or no GPU. Loads the CUDA
/// driver; a missing driver is not an error.
SW_API std::optional<GpuContext> current_gpu_context();
/// The context in which the memory at `address` was allocated; nullopt where the driver reports
/// none: not GPU memory, or memory of a pool, which all contexts may access.
SW_API std::optional<GpuContext> gpu_context_of(const void* address);

}  // namespace spanwise
