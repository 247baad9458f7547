// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace spanwise::host {

/// A private folder that goes with the object, unless it is kept.
class TemporaryFolder {
 public:
  /// In TMPDIR, /tmp or /var/tmp, whichever can be written to; throws DeviceError.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const noexcept { return path_; }
  void keep() noexcept { kept_ = true; }
  /// Writes a file into the folder and returns its path; throws DeviceError.
  std::string write(std::string_view name, std::string_view contents) const;

 private:
  std::string path_;
  bool kept_ = false;
};

/// The contents of a file; throws DeviceError.
std::string read_whole_file(const std::string& path);

}  // namespace spanwise::host
