// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "runtime/backend.hpp"
#include "spanwise/core/storage.hpp"

namespace spanwise::runtime {

/// allocate() of creation.hpp on the given stream, which becomes the producer: the memory is usable
/// there at once and is freed there after all work on it.
SW_API Storage allocate_on(StreamState& stream, std::size_t bytes);

/// CPU memory for the result of a copy from device `source`: pinned where that makes the copy
/// faster.
Storage allocate_pinned(Device source, std::size_t bytes);

/// As allocate_on, filled with zeros; an empty Storage where the caller has to fill.
Storage allocate_zeroed_on(StreamState& stream, std::size_t bytes);

}  // namespace spanwise::runtime
