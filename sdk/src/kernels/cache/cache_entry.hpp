// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace spanwise::kernels {

/// The metadata file of a compiled image in the disk cache: the image's file and the symbol of each
/// kernel in it.
struct CacheEntry {
  std::string image_name;    ///< file name within the cache folder
  std::string image_digest;  ///< SHA-256
  std::map<std::string, std::string> symbols;

  /// Serialised text; ends with a checksum.
  std::string write() const;
  /// nullopt unless `text` is a complete result of write().
  static std::optional<CacheEntry> read(std::string_view text);

  friend bool operator==(const CacheEntry&, const CacheEntry&) = default;
};

}  // namespace spanwise::kernels
