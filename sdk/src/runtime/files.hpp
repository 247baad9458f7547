// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
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

/// The result of a system call, which is repeated while signals interrupt it.
template <class Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

/// The message for an errno: "No such file or directory".
inline std::string system_error_text(int code) { return std::system_category().message(code); }
/// Reads from the current position to the end; nullopt on a read error.
std::optional<std::string> read_all(const FileDescriptor& file);
/// "<size> <mtime>" of the file at `path`, which distinguishes builds of a program or library
/// without reading them; "absent" where there is none.
std::string build_stamp(const std::string& path);
/// Returns false where not all bytes could be written.
bool write_all(const FileDescriptor& file, std::string_view bytes) noexcept;

/// A folder that no other user can modify or replace.
struct TrustedFolder {
  FileDescriptor folder;    ///< for reading; closed where the folder cannot be used
  std::string problem{};    ///< why it cannot be used; "" where it can, and where it is missing
  bool is_missing = false;  ///< it, or a folder above it, does not exist
};

enum class MissingFolders { leave, create, try_to_create };

/// Opens the absolute path `path`, component by component from the root. Each folder on the way,
/// also those reached through symbolic links, must belong to this user or root and be writable by
/// its owner only; a folder above the last may also be sticky, as /tmp. The last must not be a
/// symbolic link. The checks apply to the opened descriptors, so another user cannot replace a
/// folder after its check. MissingFolders::create creates missing folders with mode 0700.
TrustedFolder open_trusted_folder(const std::string& path, MissingFolders missing);

/// Why the folder `path` cannot be written or, where it does not exist, created; "" where it can. A
/// system says so only of an attempt: creates an empty folder there and removes it.
std::string write_problem(const std::string& path);

/// The same conditions for a folder in which this process creates a private one: `path` itself may
/// be sticky, or a symbolic link. Returns "" where they hold, else the problem.
std::string parent_problem(const std::string& path);

/// True for files owned by this user or root.
bool has_trusted_owner(const struct stat& status) noexcept;

/// A private folder (0700) for the files of one compile.
class TemporaryFolder {
 public:
  enum class Lifetime {
    scope,  ///< removed with the object, or by a later process where this one was killed
    kept    ///< stays for the user to read
  };

  /// Creates the folder in TMPDIR, /tmp or /var/tmp: the first that is writable and in which no
  /// other user can replace it, else the first that is writable. Throws DeviceError.
  explicit TemporaryFolder(Lifetime lifetime = Lifetime::scope);
  /// As above, in `parent`, and kept.
  explicit TemporaryFolder(const std::string& parent);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const noexcept { return path_; }
  /// Writes a file, creating the folders in `name`, and returns its path. Throws DeviceError.
  std::string write(std::string_view name, std::string_view contents) const;

 private:
  bool try_create_in(const std::string& parent);  // sets errno on failure

  Lifetime lifetime_;
  std::string path_;
  FileDescriptor lock_;  // held while the process runs: an unlocked folder is abandoned
};

/// A path of the file `name` in `folder`, for dlopen(), that no earlier call returned: for a path
/// that was loaded before, dlopen() returns the loaded library, even if the file has changed.
inline std::string new_loader_path(std::string folder, const std::string& name) {
  // The call's number: each bit is written as "/" or "/.", which does not change the file.
  static std::atomic<std::uint64_t> calls{0};
  for (std::uint64_t call = calls.fetch_add(1) + 1; call != 0; call >>= 1)
    folder += (call & 1) != 0 ? "/." : "/";
  return folder + "/" + name;
}

}  // namespace spanwise::runtime
