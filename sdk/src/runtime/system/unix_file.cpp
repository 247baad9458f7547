// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/system/unix_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "spanwise/core/error.hpp"

namespace spanwise::runtime {

bool FileDescriptor::close() noexcept {
  const int fd = std::exchange(fd_, -1);
  // On EINTR Linux has closed the descriptor already (close(2)).
  return fd < 0 || ::close(fd) == 0 || errno == EINTR;
}

std::optional<std::string> read_all(const FileDescriptor& file) {
  struct stat status;
  if (::fstat(file.get(), &status) != 0) return std::nullopt;
  // One byte more than the size, so that reading usually ends in the first pass.
  std::string bytes(static_cast<std::size_t>(status.st_size) + 1, '\0');
  std::size_t filled = 0;
  while (true) {
    const ssize_t count = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
    if (filled == bytes.size()) bytes.resize(2 * bytes.size());
  }
  bytes.resize(filled);
  return bytes;
}

std::string build_stamp(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return "absent";
  return text(status.st_size, ' ', status.st_mtim.tv_sec, '.', status.st_mtim.tv_nsec);
}

bool write_all(const FileDescriptor& file, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace spanwise::runtime
