// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/backend.hpp"

/// Cache of streams that other libraries never destroy, such as PyTorch's. Every import from such a
/// library passes a stream's handle, and querying the driver about one takes several calls.
namespace spanwise::runtime {

/// The back end's foreign_stream(), the same object for the same handle. per_thread_stream is not
/// cached.
Ref<StreamState> persistent_stream(Device device, std::uintptr_t handle);

/// Clears the cache before the back end that made the streams is replaced. Not thread-safe.
void clear_persistent_streams() noexcept;

}  // namespace spanwise::runtime
