// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "backends/cuda/compile/cuda_compiler.hpp"
#include "kernels/include_closure.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::test {

struct CompileSettings {
  std::vector<std::string> options = {};
  bool includes_device_headers = false;  ///< those of <spanwise/...>
};

/// Expects that NVRTC compiles `source_text`, CUDA C, for compute capability 9.0, and that the
/// module has `kernels`. Needs NVRTC: call it in an NvrtcTest. A failure shows the log and the
/// source from its last typedef on, or all of it if it has none; this leaves out the headers at the
/// start of a generated source, and may leave out declarations.
inline void expect_compiles(const std::string& source_text, const std::vector<std::string>& kernels,
                            const CompileSettings& settings = {}) {
  const parse::KernelSource source = parse::scan_kernels(source_text);
  runtime::CompileRequest request;
  request.source = &source;
  request.options = settings.options;
  std::optional<kernels::DeviceHeaderFolder> headers;
  if (settings.includes_device_headers) request.include_dirs = {headers.emplace().path()};
  try {
    const runtime::KernelBinary binary = cuda::compile({9, 0}, request);
    for (const std::string& kernel : kernels)
      EXPECT_TRUE(binary.symbols.contains(kernel)) << kernel;
  } catch (const CompileError& error) {
    const std::size_t last = source_text.rfind("typedef");
    ADD_FAILURE() << error.log() << source_text.substr(last == std::string::npos ? 0 : last);
  }
}

}  // namespace spanwise::test
