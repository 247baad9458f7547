// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "spanwise/core/array.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise::dlpack {

/// The stream that `__dlpack__(stream=)` means for an array on `device`: none on the CPU and for
/// -1, the legacy default stream for None. Throws ArgumentError for invalid numbers.
std::optional<Stream> consumer_stream(std::optional<std::int64_t> stream, Device device);

/// Makes the consumer's stream wait for all of Spanwise's queued work on the array.
void order_consumer(const Stream& consumer, const Array& array);

}  // namespace spanwise::dlpack
