// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/backend.hpp"

namespace spanwise::runtime {

/// Changes whenever a back end comes or goes: an answer about devices holds while it stays.
std::uint64_t backend_generation() noexcept;

/// The stream of execution_device(device) that threads share when they set none. Throws as
/// backend_for.
StreamState& default_stream(Device device);

}  // namespace spanwise::runtime
