// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/backend.hpp"

/// Cache of other libraries' streams that are never destroyed, as PyTorch's. Querying the driver
/// about a handle takes several calls, and every import from such a library names one.
namespace spanwise::runtime {

/// The back end's foreign_stream(), the same object for the same handle; except for the per-thread
/// default stream (2), which is another stream on each thread and is not cached.
Ref<StreamState> persistent_stream(Device device, std::uintptr_t handle);

/// Clears the cache before the back end that made the streams is replaced. Not thread-safe.
void clear_persistent_streams() noexcept;

}  // namespace spanwise::runtime
