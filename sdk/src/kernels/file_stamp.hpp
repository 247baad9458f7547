// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace spanwise::kernels {

/// What the file system says of a path without reading it. Two equal stamps mean: nothing was
/// written to it between them (up to the resolution of the file system's clock).
struct FileStamp {
  bool exists = false;  ///< as a regular file
  std::uint64_t device = 0, inode = 0;
  std::int64_t size = 0, modified_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) noexcept = default;
};

/// Never throws: what cannot be looked at does not exist.
FileStamp stamp_of(const std::string& path) noexcept;

struct StampedFile {
  FileStamp stamp;
  std::string contents;
};
/// A regular file with the stamp it had when it was opened; nothing where it cannot be read.
std::optional<StampedFile> read_file(const std::string& path);

}  // namespace spanwise::kernels
