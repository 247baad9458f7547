// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/backend.hpp"

namespace spanwise::runtime {

/// Incremented whenever a back end is registered or exchanged, so that cached facts about devices
/// can be validated.
std::uint64_t backend_generation() noexcept;

/// The default stream of execution_device(device), used by all threads that have not set one.
/// Throws as backend_for.
StreamState& default_stream(Device device);

}  // namespace spanwise::runtime
