// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/system/trusted_folder.hpp"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "spanwise/core/error.hpp"

namespace spanwise::runtime {
namespace {

constexpr int max_links = 40;  // the kernel's limit, path_resolution(7)

// If root is not mapped into this user namespace: the overflow uid, as which all unmapped users
// appear. Else -1.
std::int64_t unmapped_root() {
  std::ifstream map("/proc/self/uid_map");
  std::int64_t inside = 0, outside = 0, count = 0;
  while (map >> inside >> outside >> count)
    if (outside == 0) return -1;
  std::int64_t uid = -1;
  std::ifstream("/proc/sys/kernel/overflowuid") >> uid;
  return map.eof() ? uid : -1;
}

// For a folder above the last one of a path. In a container that maps only this user, system
// folders belong to the unmapped root.
bool is_trusted_ancestor(const struct stat& status) {
  return has_trusted_owner(status) || std::int64_t{status.st_uid} == unmapped_root();
}

bool is_writable_by_others(const struct stat& status) noexcept {
  return (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

// Why a folder is not trusted; "" where it is. In a sticky folder other users can only rename their
// own entries.
std::string folder_problem(const std::string& path, const struct stat& status, bool is_last) {
  if (is_last ? !has_trusted_owner(status) : !is_trusted_ancestor(status))
    return text(path, " belongs to another user");
  const bool is_sticky = !is_last && (status.st_mode & S_ISVTX) != 0;
  if (is_writable_by_others(status) && !is_sticky)
    return text(path, " may be written by other users (chmod go-w it)");
  return "";
}

// Opens a path component by component, as open_trusted_folder() describes.
class FolderWalk {
 public:
  FolderWalk(const std::string& path, MissingFolders missing, bool last_is_parent)
      : missing_(missing), last_is_parent_(last_is_parent) {
    add_steps(path);
    restart();
  }

  TrustedFolder run() && {
    while (problem_.empty() && !is_missing_ && !steps_.empty()) {
      const std::string step = std::move(steps_.back());
      steps_.pop_back();
      take(step);
    }
    TrustedFolder out;
    if (problem_.empty() && !is_missing_) {
      out.folder = FileDescriptor(::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (!out.folder) fail_with(path_, errno);
    }
    out.problem = std::move(problem_);
    out.is_missing = is_missing_;
    return out;
  }

 private:
  // Pushes the path's components; steps_.back() is the next one.
  void add_steps(std::string_view path) {
    const std::size_t before = steps_.size();
    while (!path.empty()) {
      const std::string_view step = path.substr(0, path.find('/'));
      path.remove_prefix(std::min(step.size() + 1, path.size()));
      if (!step.empty() && step != ".") steps_.emplace_back(step);
    }
    std::reverse(steps_.begin() + static_cast<std::ptrdiff_t>(before), steps_.end());
  }

  void restart() {
    folder_ = FileDescriptor(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    path_.clear();
    enter(steps_.empty());
  }

  void take(const std::string& step) {
    const bool is_last = steps_.empty();
    struct stat status;
    if (!try_read_status(step, status)) return;
    const std::string before = path_;
    path_ += "/" + step;
    if (S_ISLNK(status.st_mode)) {
      if (is_last && !last_is_parent_) return set_problem(text(path_, " is a symbolic link"));
      if (!is_trusted_ancestor(status)) return set_problem(text(path_, " belongs to another user"));
      return follow(step, before);
    }
    if (!S_ISDIR(status.st_mode)) return set_problem(text(path_, " is no folder"));
    // "/." triggers the mount of an automounted file system.
    folder_ = FileDescriptor(
        ::openat(folder_.get(), (step + "/.").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    enter(is_last);
  }

  bool try_read_status(const std::string& step, struct stat& status) {
    const auto exists = [&] {
      return ::fstatat(folder_.get(), step.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    };
    if (exists()) return true;
    if (errno == ENOENT && missing_ == MissingFolders::leave) {
      is_missing_ = true;
      return false;
    }
    // Another process may have created it meanwhile.
    if (errno == ENOENT && (::mkdirat(folder_.get(), step.c_str(), 0700) == 0 || errno == EEXIST) &&
        exists())
      return true;
    fail_with(path_ + "/" + step, errno);
    return false;
  }

  void enter(bool is_last) {
    struct stat status;
    if (!folder_ || ::fstat(folder_.get(), &status) != 0) return fail_with(path_, errno);
    const std::string problem =
        folder_problem(path_.empty() ? "/" : path_, status, is_last && !last_is_parent_);
    if (!problem.empty()) set_problem(problem);
  }

  void follow(const std::string& step, const std::string& before) {
    char target[PATH_MAX];
    const ssize_t size = ::readlinkat(folder_.get(), step.c_str(), target, sizeof target);
    if (size < 0) return fail_with(path_, errno);
    if (++links_ > max_links) return fail_with(path_, ELOOP);
    path_ = before;
    add_steps(std::string_view(target, static_cast<std::size_t>(size)));
    if (size > 0 && target[0] == '/') restart();
  }

  void set_problem(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }
  void fail_with(const std::string& path, int code) {
    set_problem(text(path, ": ", system_error_text(code)));
  }

  MissingFolders missing_;
  bool last_is_parent_;
  FileDescriptor folder_;  // the folder reached so far
  std::string path_;       // of folder_, without symbolic links; "" at the root
  std::string problem_;
  std::vector<std::string> steps_;
  int links_ = 0;
  bool is_missing_ = false;
};

}  // namespace

TrustedFolder open_trusted_folder(const std::string& path, MissingFolders missing) {
  return FolderWalk(path, missing, false).run();
}

std::string parent_problem(const std::string& path) {
  TrustedFolder parent = FolderWalk(path, MissingFolders::leave, true).run();
  return parent.is_missing ? text(path, " does not exist") : std::move(parent.problem);
}

bool has_trusted_owner(const struct stat& status) noexcept {
  return status.st_uid == ::geteuid() || status.st_uid == 0;
}

}  // namespace spanwise::runtime
