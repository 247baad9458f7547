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

/// A folder of files whose contents will be run as code: made for this user alone (0700), and used
/// only where no other user can change or replace it (runtime::open_trusted_folder). Files are
/// opened relative to the folder that was checked. No member throws for what the file system says;
/// problem() has the sentence.
class CacheFolder {
 public:
  /// Opens `path`; with `create` makes it and its parents where they are not there.
  static CacheFolder open(const std::string& path, bool create);

  const std::string& path() const noexcept { return path_; }
  /// "" where the folder can be read; also "" where it is simply not there yet.
  const std::string& problem() const noexcept { return problem_; }
  explicit operator bool() const noexcept { return static_cast<bool>(folder_); }

  /// Nothing where the file is absent, not a regular file, or may be written by other users.
  std::optional<std::string> read(const std::string& name) const;
  /// Readers see the old contents or the new ones, never a part: a temporary name in this folder,
  /// then a rename. Where that fails, the reason in the system's words; else "".
  std::string replace(const std::string& name, std::string_view contents) const;
  void remove(const std::string& name) const noexcept;
  /// Sets the time of the last use to now.
  void touch(const std::string& name) const noexcept;

  struct File {
    std::string name;
    std::int64_t bytes = 0;
    std::int64_t modified_ns = 0;
  };
  /// The regular files.
  std::vector<File> list() const;

 private:
  std::string path_, problem_;
  runtime::FileDescriptor folder_;
};

}  // namespace spanwise::kernels
