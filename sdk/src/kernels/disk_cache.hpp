// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/cache_folder.hpp"
#include "runtime/backend.hpp"

namespace spanwise::kernels {

/// Compiled kernels on disk, by key.
///
/// An entry is two files: "<key>-<digest>.bin", the image, and "<key>.entry", which names it and is
/// written last. As an image's name depends on its contents,
/// any number of processes may write the same entry at once: the last rename of "<key>.entry" wins,
/// and both images are right. Nothing here throws for what the disk does: a cache that cannot be
/// used costs time, never a result.
class DiskCache {
 public:
  DiskCache(std::string path, std::int64_t limit_bytes);
  /// As config "cache_dir" and "cache_limit_mb" say now.
  static DiskCache configured();

  /// The bytes whose digest the entry names, so that they can be loaded as they are. Nothing where
  /// there is no entry or it is damaged. Marks it as used.
  std::optional<runtime::KernelBinary> find(const std::string& key) const;
  /// True where the entry went to disk. Removes the least recently used entries while the whole is
  /// larger than the limit.
  bool store(const std::string& key, const runtime::KernelBinary& binary) const;
  void remove(const std::string& key) const;
  void clear() const;

  /// Another name for an entry: `key` may be looked up by `alias` until the alias is set anew.
  void set_alias(const std::string& alias, const std::string& key) const;
  std::optional<std::string> follow_alias(const std::string& alias) const;

  struct Usage {
    std::int64_t entries = 0, bytes = 0;
  };
  Usage usage() const;
  const std::string& path() const noexcept { return path_; }
  /// Why nothing is kept, one sentence; "" where it is. Also where the last store of this process
  /// failed, as on a full disk.
  std::string problem() const;

 private:
  bool enabled() const noexcept { return limit_bytes_ > 0; }
  std::string write_entry(const CacheFolder& folder, const std::string& key,
                          const runtime::KernelBinary& binary) const;
  void note_growth(const CacheFolder& folder, const std::string& key, std::int64_t bytes) const;

  std::string path_;
  std::int64_t limit_bytes_;
};

}  // namespace spanwise::kernels
