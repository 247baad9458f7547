// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "runtime/system/temporary_folder.hpp"

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

}  // namespace spanwise::kernels
