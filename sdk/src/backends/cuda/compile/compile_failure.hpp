// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "backends/cuda/compile/nvrtc.hpp"
#include "parse/kernel_source.hpp"

namespace spanwise::cuda {

/// Throws the error for a compilation for which NVRTC returned `result` and the messages `log`:
/// ArgumentError for options, CompileError for the source, else DeviceError. `folders` hold CUDA's
/// headers.
[[noreturn]] void fail_compilation(const nvrtc::Library& library, nvrtc::Result result,
                                   const parse::KernelSource& source,
                                   const std::string& architecture, const std::string& log,
                                   const std::vector<std::filesystem::path>& folders);

}  // namespace spanwise::cuda
