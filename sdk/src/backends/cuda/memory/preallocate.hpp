// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace spanwise::cuda {

/// Bytes that config "preallocate" asks for, of `free` bytes: "0" nothing; a number up to 1 a
/// fraction of what is free ("0.8"); a larger one bytes, with KiB, MiB or GiB where given ("8GiB").
/// Throws ArgumentError.
std::int64_t preallocate_bytes(std::string_view value, std::int64_t free);

}  // namespace spanwise::cuda
