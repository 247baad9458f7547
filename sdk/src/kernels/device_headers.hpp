// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "runtime/system/temporary_folder.hpp"

namespace spanwise::kernels {

/// The folder that kernels name: #include <spanwise/view.cuh>.
inline constexpr std::string_view device_header_prefix = "spanwise/";

/// SHA-256 over the headers that this library brings for kernels.
const std::string& device_headers_digest();

/// A private temporary folder with these headers under "spanwise/", for one run of a compiler. The
/// library needs no installed headers so.
class DeviceHeaderFolder {
 public:
  /// Throws DeviceError where there is no temporary folder to write to.
  DeviceHeaderFolder();

  const std::string& path() const noexcept { return folder_.path(); }

 private:
  runtime::TemporaryFolder folder_;
};

}  // namespace spanwise::kernels
