// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/system/temporary_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <vector>

#include "runtime/system/trusted_folder.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::runtime {
namespace {

namespace fs = std::filesystem;

// Only folders with this prefix are removed by processes other than their creator.
constexpr std::string_view scope_prefix = "spanwise-tmp-";
constexpr std::string_view kept_prefix = "spanwise-kernel-";

enum class Lock { held, refused, unsupported };

// Opens `path` as `folder` and locks it; closing `folder` unlocks. Lock::refused where the folder
// does not exist, belongs to another user, or is locked by a live process.
Lock lock_folder(const std::string& path, FileDescriptor& folder) {
  folder = FileDescriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status;
  if (!folder || ::fstat(folder.get(), &status) != 0 || status.st_uid != ::geteuid())
    return Lock::refused;
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) return Lock::held;
  return errno == EWOULDBLOCK ? Lock::refused : Lock::unsupported;
}

// Removes the folders of killed processes: the system unlocks a folder when its process ends. Runs
// once per parent, since it lists the parent, and only where no other user could have moved a
// folder there.
void remove_abandoned(const std::string& parent) {
  static auto& searched = *new std::set<std::string>;
  static auto& mutex = *new Mutex;
  {
    const std::lock_guard lock(mutex);
    if (!searched.insert(parent).second) return;
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
  std::ranges::stable_partition(all, [](const Parent& p) { return p.is_trusted; });
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
  std::error_code ignored;
  if (lifetime_ == Lifetime::scope) fs::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(std::string_view name, std::string_view contents) const {
  const fs::path path = fs::path(path_) / name;
  std::error_code ignored;
  if (name.find('/') != name.npos) fs::create_directories(path.parent_path(), ignored);
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file || !write_all(file, contents) || !file.close())
    fail<DeviceError>("cannot write ", path.string(), ": ", std::strerror(errno),
                      ". Free space there, or set TMPDIR to another folder");
  return path.string();
}

}  // namespace spanwise::runtime
