// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/files.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"

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
      out.folder = open_here(".", O_RDONLY);
      if (!out.folder) fail_with(path_, errno);
      if (missing_ == MissingFolders::try_to_create) try_to_create(path_);
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
    folder_ =
        FileDescriptor(uninterrupted([] { return ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC); }));
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
    folder_ = open_here(step + "/.", O_PATH);
    enter(is_last);
  }

  bool try_read_status(const std::string& step, struct stat& status) {
    const auto exists = [&] {
      return ::fstatat(folder_.get(), step.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    };
    if (exists()) return true;
    if (errno == ENOENT && missing_ != MissingFolders::create) {
      is_missing_ = true;
      if (missing_ == MissingFolders::try_to_create) try_to_create(path_ + "/" + step);
      return false;
    }
    // Another process may have created it meanwhile.
    if (errno == ENOENT && (::mkdirat(folder_.get(), step.c_str(), 0700) == 0 || errno == EEXIST) &&
        exists())
      return true;
    fail_with(path_ + "/" + step, errno);
    return false;
  }

  // A folder in folder_.
  FileDescriptor open_here(const std::string& name, int flags) const {
    return FileDescriptor(uninterrupted(
        [&] { return ::openat(folder_.get(), name.c_str(), flags | O_DIRECTORY | O_CLOEXEC); }));
  }

  // Creates a folder in folder_, on behalf of `path`, and removes it.
  void try_to_create(const std::string& path) {
    const std::string name = text(".spanwise-", ::getpid(), "-", ::gettid());
    if (::mkdirat(folder_.get(), name.c_str(), 0700) != 0 ||
        ::unlinkat(folder_.get(), name.c_str(), AT_REMOVEDIR) != 0)
      fail_with(path, errno);
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

std::string write_problem(const std::string& path) {
  return FolderWalk(path, MissingFolders::try_to_create, false).run().problem;
}

std::string parent_problem(const std::string& path) {
  TrustedFolder parent = FolderWalk(path, MissingFolders::leave, true).run();
  return parent.is_missing ? text(path, " does not exist") : std::move(parent.problem);
}

bool has_trusted_owner(const struct stat& status) noexcept {
  return status.st_uid == ::geteuid() || status.st_uid == 0;
}

namespace {

namespace fs = std::filesystem;

// Only folders with this prefix are removed by processes other than their creator.
constexpr std::string_view scope_prefix = "spanwise-tmp-";
constexpr std::string_view kept_prefix = "spanwise-kernel-";

enum class Lock { held, refused, unsupported };

// Opens `path` as `folder` and locks it; closing `folder` unlocks. Lock::refused where the folder
// does not exist, belongs to another user, or is locked by a live process.
Lock lock_folder(const std::string& path, FileDescriptor& folder) {
  folder = FileDescriptor(uninterrupted(
      [&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }));
  struct stat status;
  if (!folder || ::fstat(folder.get(), &status) != 0 || status.st_uid != ::geteuid())
    return Lock::refused;
  if (uninterrupted([&] { return ::flock(folder.get(), LOCK_EX | LOCK_NB); }) == 0)
    return Lock::held;
  return errno == EWOULDBLOCK ? Lock::refused : Lock::unsupported;
}

// Removes the folders of killed processes: the system unlocks a folder when its process ends. Runs
// once per parent, since it lists the parent, and only where no other user could have moved a
// folder there.
void remove_abandoned(const std::string& parent) {
  static NeverDestroyed<std::set<std::string>> searched;
  static NeverDestroyed<Mutex> mutex;
  {
    const std::lock_guard lock(*mutex);
    if (!searched->insert(parent).second) return;
  }
  std::error_code error;
  std::vector<fs::path> candidates;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename().native().starts_with(scope_prefix))
      candidates.push_back(entry->path());
  for (const fs::path& path : candidates) {
    FileDescriptor folder;
    if (lock_folder(path, folder) == Lock::held) fs::remove_all(path, error);
  }
}

// Whether the path still refers to the opened folder.
bool is_at(const std::string& path, const FileDescriptor& folder) {
  struct stat current, opened;
  return ::stat(path.c_str(), &current) == 0 && ::fstat(folder.get(), &opened) == 0 &&
         current.st_ino == opened.st_ino && current.st_dev == opened.st_dev;
}

struct Parent {
  std::string path;
  bool is_trusted = false;
};

// In the order in which they are tried.
std::vector<Parent> parents() {
  const char* tmpdir = std::getenv("TMPDIR");
  std::vector<Parent> all;
  for (const char* name : {tmpdir != nullptr ? tmpdir : "", "/tmp", "/var/tmp"}) {
    std::error_code error;
    const std::string path = fs::absolute(name, error).string();
    if (name[0] != '\0' && !error) all.push_back({path, parent_problem(path).empty()});
  }
  std::stable_partition(all.begin(), all.end(), [](const Parent& p) { return p.is_trusted; });
  return all;
}

}  // namespace

TemporaryFolder::TemporaryFolder(Lifetime lifetime) : lifetime_(lifetime) {
  int reason = ENOENT;
  for (const Parent& parent : parents()) {
    if (parent.is_trusted) remove_abandoned(parent.path);
    if (try_create_in(parent.path)) return;
    reason = errno;
  }
  fail<DeviceError>("no folder for temporary files: ", std::strerror(reason),
                    ". Set TMPDIR to a folder that can be written to");
}

TemporaryFolder::TemporaryFolder(const std::string& parent) : lifetime_(Lifetime::kept) {
  if (!try_create_in(parent))
    fail<DeviceError>("cannot create a folder in ", parent, ": ", std::strerror(errno),
                      "; expected a folder that can be written to");
}

bool TemporaryFolder::try_create_in(const std::string& parent) {
  const std::string_view prefix = lifetime_ == Lifetime::scope ? scope_prefix : kept_prefix;
  for (int attempt = 0; attempt < 16; ++attempt) {
    path_ = text(parent, "/", prefix, "XXXXXX");
    if (::mkdtemp(path_.data()) == nullptr) return false;
    if (lifetime_ == Lifetime::kept) return true;
    // Before it is locked, another process may remove the folder as abandoned. On a file system
    // without locks, that process cannot lock the folder either, and leaves it.
    const Lock lock = lock_folder(path_, lock_);
    if (lock == Lock::unsupported || (lock == Lock::held && is_at(path_, lock_))) return true;
    // The folder exists, but open() failed: no file descriptors are left.
    if (const int reason = errno; !lock_ && reason != ENOENT) {
      ::rmdir(path_.c_str());
      errno = reason;
      return false;
    }
  }
  errno = EACCES;
  return false;
}

TemporaryFolder::~TemporaryFolder() {
  if (lifetime_ != Lifetime::scope) return;
  // A call that fails once, as where it is interrupted or has no memory, must not leave the folder.
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      fs::remove_all(path_);
      return;
    } catch (const std::exception&) {  // remove_abandoned() removes what is left
    }
  }
}

std::string TemporaryFolder::write(std::string_view name, std::string_view contents) const {
  const fs::path path = fs::path(path_) / name;
  const auto fail_to_write = [&](std::string_view reason) {
    fail<DeviceError>("cannot write ", path.string(), ": ", reason,
                      ". Free space there, or set TMPDIR to another folder");
  };
  std::error_code error;
  if (name.find('/') != name.npos) fs::create_directories(path.parent_path(), error);
  if (error) fail_to_write(error.message());
  FileDescriptor file(uninterrupted(
      [&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600); }));
  if (!file || !write_all(file, contents) || !file.close()) fail_to_write(std::strerror(errno));
  return path.string();
}

}  // namespace spanwise::runtime
