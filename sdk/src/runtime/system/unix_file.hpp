// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace spanwise::runtime {

/// Owns an open file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() noexcept = default;
  explicit FileDescriptor(int fd) noexcept : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() { close(); }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  /// Returns false where the system reports that written data was lost.
  bool close() noexcept;

 private:
  int fd_ = -1;
};

/// The message for an errno: "No such file or directory".
inline std::string system_error_text(int code) { return std::system_category().message(code); }
/// Reads from the current position to the end; nullopt on a read error.
std::optional<std::string> read_all(const FileDescriptor& file);
/// "<size> <mtime>" of the file at `path`, which distinguishes builds of a program or library
/// without reading them; "absent" where there is none.
std::string build_stamp(const std::string& path);
/// Returns false where not all bytes could be written.
bool write_all(const FileDescriptor& file, std::string_view bytes) noexcept;

}  // namespace spanwise::runtime
