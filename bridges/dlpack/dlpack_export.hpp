// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "spanwise/array.hpp"
#include "spanwise/stream.hpp"

namespace spanwise::dlpack {

/// The stream that `__dlpack__(stream=)` names for an array on `device`: none on the CPU and for
/// -1, the legacy default stream for nothing (None). Throws ArgumentError for numbers that mean
/// nothing.
std::optional<Stream> consumer_stream(std::optional<std::int64_t> stream, Device device);

/// Makes the consumer's stream come after all our queued work on the array.
void make_wait(const Stream& consumer, const Array& array);

/// Both at once.
void order_consumer(const Array& array, std::optional<std::int64_t> stream);

}  // namespace spanwise::dlpack
