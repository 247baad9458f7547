// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/system/unix_file.hpp"

namespace spanwise::kernels {

/// A folder of files that are executed as code: created with mode 0700, and used only if no other
/// user can modify or replace it (runtime::open_trusted_folder). Files are opened relative to
/// the checked descriptor. No member throws for file system errors; problem() describes them.
class CacheFolder {
 public:
  /// Opens `path`; with `create` creates it and its parents if missing.
  static CacheFolder open(const std::string& path, bool create);

  const std::string& path() const noexcept { return path_; }
  /// Why the folder cannot be used; "" where it can, or where it does not exist yet.
  const std::string& problem() const noexcept { return problem_; }
  explicit operator bool() const noexcept { return static_cast<bool>(folder_); }

  /// The contents of a file; nullopt where it is missing, not a regular file, not owned by this
  /// user or root, or writable by other users.
  std::optional<std::string> read(const std::string& name) const;
  /// Replaces a file atomically (temporary file in this folder, then rename). Returns the system's
  /// error message on failure, else "".
  std::string replace(const std::string& name, std::string_view contents) const;
  void remove(const std::string& name) const noexcept;
  /// Sets the modification time, which records the last use, to now.
  void touch(const std::string& name) const noexcept;

  struct CachedFile {
    std::string name;
    std::int64_t bytes = 0;
    std::int64_t modified_ns = 0;
  };
  /// The regular files in the folder.
  std::vector<CachedFile> list() const;

 private:
  std::string path_, problem_;
  runtime::FileDescriptor folder_;
};

}  // namespace spanwise::kernels
