// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace spanwise::kernels {

/// The file system's metadata of a path. Equal stamps mean that the file was not written in between
/// (up to the resolution of the file system's clock).
struct FileStamp {
  bool exists = false;  ///< as a regular file
  std::uint64_t device = 0, inode = 0;
  std::int64_t size = 0, modified_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) noexcept = default;
};

/// Never throws: a path that cannot be examined counts as missing.
FileStamp stamp_of(const std::string& path) noexcept;

struct StampedFile {
  FileStamp stamp;
  std::string contents;
};
/// Reads a regular file, with its stamp when it was opened; nullopt where it cannot be read.
std::optional<StampedFile> read_file(const std::string& path);

}  // namespace spanwise::kernels
