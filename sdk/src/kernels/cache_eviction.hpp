// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/cache_folder.hpp"

namespace spanwise::kernels {

/// Whether `text` has the form of a key: 64 lower-case hexadecimal digits.
bool is_key(std::string_view text) noexcept;
/// The key that a file of the cache belongs to; "" for a file that is not the cache's.
std::string_view key_of(std::string_view file_name) noexcept;
/// Whether it is an unfinished file that a writer renames when it is done.
bool is_temporary(std::string_view file_name) noexcept;

/// Removes the least recently used entries, but not `kept`, until at most `limit_bytes` are left,
/// and what interrupted writers left behind. Returns the bytes left.
std::int64_t shrink(const CacheFolder& folder, std::int64_t limit_bytes, std::string_view kept);

}  // namespace spanwise::kernels
