// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "spanwise/device.hpp"
#include "spanwise/export.hpp"

namespace spanwise {

/// A context of a GPU. Spanwise works in each GPU's primary one, as everything built on the CUDA
/// runtime does; a program may have made another (pycuda.autoinit does), whose memory work in the
/// primary one must not touch.
struct GpuContext {
  Device device{};  ///< of memory, the kind that it is
  bool primary = false;
};

/// The calling thread's current context; nothing where it has none, or there is no GPU. Loads the
/// CUDA driver; never throws for its absence.
SW_API std::optional<GpuContext> current_gpu_context();
/// The context that the memory at `address` was made in; nothing where the driver does not say (no
/// memory of a GPU, or memory of a pool, which all contexts may touch).
SW_API std::optional<GpuContext> gpu_context_of(const void* address);

}  // namespace spanwise
