// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "backends/cuda/compile/cuda_compiler.hpp"
#include "spanwise/core/error.hpp"
#include "support/nvrtc_fixture.hpp"

namespace spanwise::cuda {

/// Fixture of tests of the CUDA back end's compiler.
class CompilerTest : public test::NvrtcTest<> {
 protected:
  static runtime::KernelBinary build(const std::string& source,
                                     runtime::CompileRequest request = {}) {
    const parse::KernelSource scanned = parse::scan_kernels(source);
    request.source = &scanned;
    return compile({9, 0}, request);
  }
  static std::string compile_log(const std::string& source, runtime::CompileRequest request = {}) {
    try {
      build(source, std::move(request));
    } catch (const CompileError& error) {
      return error.log();
    }
    return "it compiled";
  }
  static std::string fingerprint(const std::string& source, runtime::CompileRequest request = {}) {
    const parse::KernelSource scanned = parse::scan_kernels(source);
    request.source = &scanned;
    return compiler_fingerprint({9, 0}, request);
  }
};

/// A kernel that doubles elements.
inline constexpr const char* twice = "__global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n";

}  // namespace spanwise::cuda
