// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files.hpp"

namespace spanwise::kernels {

/// The include prefix of the library's device headers: #include <spanwise/view.cuh>.
inline constexpr std::string_view device_header_prefix = "spanwise/";

/// SHA-256 over the library's device headers.
const std::string& device_headers_digest();

/// A private temporary folder with the device headers under "spanwise/", for one run of a compiler,
/// so that no installed headers are needed.
class DeviceHeaderFolder {
 public:
  /// Throws DeviceError where no temporary folder is writable.
  DeviceHeaderFolder();

  const std::string& path() const noexcept { return folder_.path(); }

 private:
  runtime::TemporaryFolder folder_;
};

/// The file system's metadata of a path. Equal stamps mean that the file was not written in between
/// (up to the resolution of the file system's clock).
struct FileStamp {
  bool exists = false;  ///< as a regular file
  std::uint64_t device = 0, inode = 0;
  std::int64_t size = 0, modified_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) noexcept = default;
};

/// Never throws: a path that cannot be examined counts as missing.
FileStamp stamp_of(const std::string& path) noexcept;

/// The user's files that a kernel's source may include, directly or indirectly.
///
/// Conservative: conditions are not evaluated, and a name found in several folders counts with all
/// of them, so a change to any file that may matter is detected; a false positive costs one
/// compilation. Headers of the compiler and the CUDA toolkit are not included: the back end's
/// fingerprint covers them.
struct IncludeClosure {
  struct IncludedFile {
    std::string path;
    std::string digest;  ///< SHA-256 of the contents
  };
  /// A path that was examined, and its stamp. Includes missing files: a new header earlier in the
  /// search path also changes the result.
  struct Probe {
    std::string path;
    FileStamp stamp;
  };
  std::vector<IncludedFile> files;
  std::vector<Probe> probes;
  /// False where an include is computed by a macro that could not be resolved; the list of files is
  /// then incomplete.
  bool complete = true;
  /// A device header of this library is included: <spanwise/...>.
  bool wants_device_headers = false;
  /// One of the files declares variables that persist between launches.
  bool declares_variables = false;

  /// Adds the files of another source.
  void merge(IncludeClosure other);
  /// Whether every probe still has the same stamp.
  bool unchanged() const noexcept;
};

/// `options` are the compiler's, of which preprocessor_options() reads some.
IncludeClosure find_includes(std::string_view source, std::span<const std::string> options,
                             std::span<const std::string> include_dirs);

}  // namespace spanwise::kernels
