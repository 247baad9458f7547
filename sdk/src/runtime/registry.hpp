// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/backend.hpp"

namespace spanwise::runtime {

/// Incremented whenever a back end is registered or exchanged, so that cached facts about devices
/// can be validated.
std::uint64_t backend_generation() noexcept;

/// The default stream of working_device(device), used by all threads that have not set one.
/// Throws as backend_for.
StreamState& default_stream(Device device);

/// Sets (with null: unsets) the calling thread's current stream of `device`; returns the previous
/// one, null where none was set.
Ref<StreamState> exchange_current_stream(Device device, Ref<StreamState> stream);

}  // namespace spanwise::runtime
