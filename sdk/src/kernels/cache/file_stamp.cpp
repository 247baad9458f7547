// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cache/file_stamp.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "runtime/system/unix_file.hpp"

namespace spanwise::kernels {
namespace {

FileStamp stamp_from(const struct stat& status) noexcept {
  if (!S_ISREG(status.st_mode)) return {};
  constexpr std::int64_t second = 1'000'000'000;
  return {.exists = true,
          .device = status.st_dev,
          .inode = status.st_ino,
          .size = status.st_size,
          .modified_ns = status.st_mtim.tv_sec * second + status.st_mtim.tv_nsec};
}

}  // namespace

FileStamp stamp_of(const std::string& path) noexcept {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 ? stamp_from(status) : FileStamp{};
}

std::optional<StampedFile> read_file(const std::string& path) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const runtime::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  auto contents = runtime::read_all(file);
  if (!contents) return std::nullopt;
  return StampedFile{stamp_from(status), std::move(*contents)};
}

}  // namespace spanwise::kernels
