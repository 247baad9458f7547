// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/cache/cache_folder.hpp"

namespace spanwise::kernels {

/// Whether `text` has the form of a key: 64 lower-case hexadecimal digits.
bool is_key(std::string_view text) noexcept;
/// The key of a cache file; "" for a file that does not belong to the cache.
std::string_view key_of(std::string_view file_name) noexcept;
/// Whether the name is that of a temporary file, which its writer renames when it is complete.
bool is_temporary(std::string_view file_name) noexcept;

/// Removes files of interrupted writers, then the least recently used entries except that of
/// `kept_key` until at most `limit_bytes` remain. Returns the remaining bytes.
std::int64_t shrink(const CacheFolder& folder, std::int64_t limit_bytes, std::string_view kept_key);

}  // namespace spanwise::kernels
