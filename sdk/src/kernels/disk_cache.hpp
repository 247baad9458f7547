// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/backend.hpp"

namespace spanwise::kernels {

class CacheFolder;

/// Appends a field of a file: its length, a space, its bytes and a newline. It may contain any
/// character.
void write_field(std::string& out, std::string_view field);

/// Reads what write_field() has written.
class FieldReader {
 public:
  explicit FieldReader(std::string_view text) noexcept : rest_(text) {}
  bool at_end() const noexcept { return rest_.empty(); }
  /// nullopt where no whole field follows.
  std::optional<std::string> next();

 private:
  std::string_view rest_;
};

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

/// The disk cache of compiled kernels, by key.
///
/// An entry is two files: "<key>-<digest>.bin", the image, and "<key>.entry", which names the image
/// and is written last. Since an image's name depends on its contents, any number of processes may
/// write the same entry at the same time: the last rename of "<key>.entry" wins, and both images
/// are valid. No member throws for disk errors: they only cost a compilation.
class DiskCache {
 public:
  /// `layers` are further folders, which are only read.
  DiskCache(std::string path, std::int64_t limit_bytes, std::vector<std::string> layers = {});
  /// The cache of config "cache_dir", "cache_limit_mb" and "cache_layers".
  static DiskCache configured();

  /// The binary of an entry, verified by its digest; nullopt where there is no entry or it is
  /// damaged. Marks the entry as used.
  std::optional<runtime::KernelBinary> find(const std::string& key) const;
  /// Writes an entry; returns whether it succeeded. Evicts the least recently used entries while
  /// the total size exceeds the limit.
  bool store(const std::string& key, const runtime::KernelBinary& binary) const;
  void clear() const;

  /// Stores a second name of an entry, replacing an earlier alias of that name.
  void set_alias(const std::string& alias, const std::string& key) const;
  std::optional<std::string> follow_alias(const std::string& alias) const;

  struct Usage {
    std::int64_t entries = 0, bytes = 0;
  };
  Usage usage() const;
  const std::string& path() const noexcept { return path_; }
  /// Why nothing is cached, one sentence, e.g. that the last store of this process failed on a full
  /// disk; "" where the cache works.
  std::string problem() const;

 private:
  bool enabled() const noexcept { return limit_bytes_ > 0; }
  std::string write_entry(const CacheFolder& folder, const std::string& key,
                          const runtime::KernelBinary& binary) const;
  void note_growth(const CacheFolder& folder, const std::string& key, std::int64_t bytes) const;

  std::string path_;
  std::int64_t limit_bytes_;
  std::vector<std::string> layers_;
};

}  // namespace spanwise::kernels
