// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "runtime/system/unix_file.hpp"

namespace spanwise::runtime {

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

}  // namespace spanwise::runtime
