// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/compile/compile_options.hpp"
#include "runtime/backend.hpp"

namespace spanwise::cuda {

/// A source without host code, and the user's headers that it includes.
struct DeviceSource {
  parse::KernelSource source;
  std::vector<std::pair<std::string, std::string>> headers;  ///< name in #include, contents
};

/// `source`, of the request, with host code replaced by blanks (ADR 15), in the source itself and
/// in the user's headers, and without headers of the host that NVRTC lacks. Nothing if there is no
/// host code. `toolkit` are the folders of CUDA's headers. Throws DeviceError if a header cannot be
/// read.
std::optional<DeviceSource> without_host_code(const runtime::CompileRequest& request,
                                              const parse::KernelSource& source,
                                              const CompileOptions& options,
                                              const std::vector<std::filesystem::path>& toolkit);

}  // namespace spanwise::cuda
