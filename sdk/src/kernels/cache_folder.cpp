// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cache_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "spanwise/error.hpp"

namespace spanwise::kernels {
namespace {

namespace fs = std::filesystem;

bool trusted_owner(const struct stat& status) noexcept {
  return status.st_uid == ::geteuid() || status.st_uid == 0;
}

std::string system_error_text(int code) { return std::system_category().message(code); }

// Makes the folders of `path` that are missing, each for this user alone.
void make_folders(const fs::path& path) noexcept try {
  if (path.has_parent_path() && path.parent_path() != path) {
    struct stat status;
    if (::stat(path.parent_path().c_str(), &status) != 0) make_folders(path.parent_path());
  }
  ::mkdir(path.c_str(), 0700);
} catch (...) {
  // Out of memory: opening the folder will say that it is not there.
}

// Whoever may rename entries of the parent may put another folder in our place.
std::string parent_problem(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  struct stat status;
  if (::stat(parent.c_str(), &status) != 0) return "";
  if (!trusted_owner(status)) return text(parent, " belongs to another user");
  const bool others_may_rename = (status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0;
  return others_may_rename ? text(parent, " may be written by every user") : "";
}

std::string folder_problem(const std::string& path, const FileDescriptor& folder) {
  struct stat status;
  if (::fstat(folder.get(), &status) != 0) return text(path, ": ", system_error_text(errno));
  if (!trusted_owner(status)) return text(path, " belongs to another user");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return text(path, " may be written by other users (chmod 700 it)");
  return parent_problem(path);
}

// Unique among the processes and threads that share the folder, also over a network file system.
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
  if (create) make_folders(path);
  FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) {
    // ELOOP or ENOTDIR: a symbolic link (open(2)), which may lead where others write.
    const bool link = errno == ELOOP || errno == ENOTDIR;
    if (link) {
      out.problem_ = text(path, " is a symbolic link or no folder");
    } else if (create || errno != ENOENT) {
      out.problem_ = text(path, ": ", system_error_text(errno));
    }
    return out;
  }
  out.problem_ = folder_problem(path, folder);
  if (out.problem_.empty()) out.folder_ = std::move(folder);
  return out;
}

std::optional<std::string> CacheFolder::read(const std::string& name) const {
  if (!folder_) return std::nullopt;
  const FileDescriptor file(
      ::openat(folder_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      !trusted_owner(status))
    return std::nullopt;
  return read_all(file);
}

bool CacheFolder::replace(const std::string& name, std::string_view contents) const {
  if (!folder_) return false;
  const std::string temporary = temporary_name(name);
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  FileDescriptor file(::openat(folder_.get(), temporary.c_str(), flags, 0600));
  if (!file) return false;
  // No fsync: after a crash the checksum tells a file that never reached the disk.
  const bool written = write_all(file, contents);
  if (file.close() && written &&
      ::renameat(folder_.get(), temporary.c_str(), folder_.get(), name.c_str()) == 0)
    return true;
  remove(temporary);
  return false;
}

void CacheFolder::remove(const std::string& name) const noexcept {
  if (folder_) ::unlinkat(folder_.get(), name.c_str(), 0);
}

void CacheFolder::touch(const std::string& name) const noexcept {
  if (folder_) ::utimensat(folder_.get(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

std::vector<CacheFolder::File> CacheFolder::list() const {
  std::vector<File> files;
  if (!folder_) return files;
  // fdopendir() takes the descriptor over and shares its position, so it gets one of its own.
  const int fd = ::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fd < 0 ? nullptr : ::fdopendir(fd), ::closedir);
  if (!entries) {
    FileDescriptor(fd).close();
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
