// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "runtime/backend.hpp"
#include "spanwise/storage.hpp"

namespace spanwise::runtime {

/// allocate() of creation.hpp on a stream of the caller's choice, its home: usable there at once,
/// and given back there after all work on it.
SW_API Storage allocate_on(StreamState& stream, std::size_t bytes);

/// On the CPU, for a copy off `source`, which may fill it sooner than other memory.
Storage allocate_pinned(Device source, std::size_t bytes);

/// As allocate_on, filled with zeros; an empty Storage where filling is the caller's.
Storage allocate_zeroed_on(StreamState& stream, std::size_t bytes);

}  // namespace spanwise::runtime
