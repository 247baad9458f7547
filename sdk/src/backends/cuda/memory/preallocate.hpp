// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace spanwise::cuda {

/// The bytes that config "preallocate" requests if `free` bytes are free. "0" means none, a number
/// up to 1 a fraction of `free` ("0.8"), a larger number bytes; a unit may follow (KiB, MiB, GiB,
/// KB, MB, GB: "8GiB"). Throws ArgumentError.
std::int64_t preallocate_bytes(std::string_view value, std::int64_t free);

}  // namespace spanwise::cuda
