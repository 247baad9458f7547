// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cache/cache_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <utility>

#include "runtime/system/trusted_folder.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::kernels {
namespace {

// Unique among all processes and threads that share the folder, also on a network file system.
std::string temporary_name(const std::string& name) {
  static std::atomic<unsigned> counter{0};
  struct timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  return text('.', name, '.', ::getpid(), '.', now.tv_sec, '.', now.tv_nsec, '.',
              counter.fetch_add(1), ".tmp");
}

}  // namespace

CacheFolder CacheFolder::open(const std::string& path, bool create) {
  CacheFolder out;
  out.path_ = path;
  if (path.empty()) {
    out.problem_ = "there is no home folder to keep compiled kernels in; set SPANWISE_CACHE_DIR";
    return out;
  }
  runtime::TrustedFolder opened = runtime::open_trusted_folder(
      path, create ? runtime::MissingFolders::create : runtime::MissingFolders::leave);
  out.problem_ = std::move(opened.problem);
  out.folder_ = std::move(opened.folder);
  return out;
}

std::optional<std::string> CacheFolder::read(const std::string& name) const {
  if (!folder_) return std::nullopt;
  const runtime::FileDescriptor file(
      ::openat(folder_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      !runtime::has_trusted_owner(status) || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return std::nullopt;
  return runtime::read_all(file);
}

std::string CacheFolder::replace(const std::string& name, std::string_view contents) const {
  if (!folder_) return problem_;
  const std::string temporary = temporary_name(name);
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  runtime::FileDescriptor file(::openat(folder_.get(), temporary.c_str(), flags, 0600));
  if (!file) return runtime::system_error_text(errno);
  // No fsync: the checksum detects a file that did not reach the disk before a crash.
  if (runtime::write_all(file, contents) && file.close() &&
      ::renameat(folder_.get(), temporary.c_str(), folder_.get(), name.c_str()) == 0)
    return "";
  std::string reason = runtime::system_error_text(errno);
  remove(temporary);
  return reason;
}

void CacheFolder::remove(const std::string& name) const noexcept {
  if (folder_) ::unlinkat(folder_.get(), name.c_str(), 0);
}

void CacheFolder::touch(const std::string& name) const noexcept {
  if (folder_) ::utimensat(folder_.get(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

std::vector<CacheFolder::CachedFile> CacheFolder::list() const {
  std::vector<CachedFile> files;
  if (!folder_) return files;
  // A separate descriptor: fdopendir() takes ownership of it and changes its position.
  const int fd = ::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fd < 0 ? nullptr : ::fdopendir(fd), ::closedir);
  if (!entries) {
    runtime::FileDescriptor(fd).close();
    return files;
  }
  while (const dirent* entry = ::readdir(entries.get())) {
    struct stat status;
    if (::fstatat(folder_.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(status.st_mode)) continue;
    files.push_back({entry->d_name, status.st_size,
                     status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec});
  }
  return files;
}

}  // namespace spanwise::kernels
