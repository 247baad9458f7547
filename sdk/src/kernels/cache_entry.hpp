// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace spanwise::kernels {

/// What stands beside a compiled image in the disk cache: which image it is, and under which symbol
/// each kernel stands in it.
struct CacheEntry {
  std::string image_name;    ///< file name within the cache folder
  std::string image_digest;  ///< SHA-256
  std::map<std::string, std::string> symbols;

  /// Text that ends with a checksum of itself.
  std::string write() const;
  /// Nothing where `text` is not exactly what write() made.
  static std::optional<CacheEntry> read(std::string_view text);

  friend bool operator==(const CacheEntry&, const CacheEntry&) = default;
};

}  // namespace spanwise::kernels
