// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The CUDA text of the elementwise operations, compiled for an H200 without one.
#include <gtest/gtest.h>

#include "../../ops/elementwise/cuda_source.hpp"
#include "backends/cuda/compiler.hpp"
#include "backends/cuda/nvrtc.hpp"

namespace spanwise::ops {
namespace {

class ElementwiseSource : public testing::TestWithParam<Arithmetic> {
 protected:
  void SetUp() override {
    if (cuda::nvrtc::installation()->library.empty()) GTEST_SKIP() << "NVRTC is not installed";
  }
  static void expect_compiles(Arithmetic kind, const std::vector<DType>& dtypes) {
    std::vector<Variable> operands;
    for (const DType dtype : dtypes) operands.emplace_back(TensorType(dtype, Shape{}));
    const DType result = result_dtype(kind, operands);
    const runtime::KernelSource source =
        runtime::scan_kernels(cuda_source(kind, dtypes, result, 3));
    runtime::CompileRequest request;
    request.source = &source;
    try {
      const runtime::KernelBinary binary = cuda::compile({9, 0}, request);
      for (const char* kernel : {"dense", "flat", "strided32", "strided64"})
        EXPECT_TRUE(binary.symbols.contains(kernel)) << kernel;
    } catch (const CompileError& error) {
      ADD_FAILURE() << facts(kind).op_name << " of " << dtypes.front() << ", " << dtypes.back()
                    << ":\n"
                    << error.log();
    }
  }
};

TEST_P(ElementwiseSource, CompilesForEveryKindOfDtype) {
  const Arithmetic kind = GetParam();
  const std::vector<std::pair<DType, DType>> pairs{
      {float32, float32},   {float16, float16},     {bfloat16, bfloat16}, {int8, int8},
      {uint64, uint64},     {complex64, complex64}, {float16, complex64}, {int64, float32},
      {complex128, uint16}, {bool_, bfloat16},      {bool_, int32}};
  for (const auto& [left, right] : pairs) {
    if (facts(kind).arity == 1)
      expect_compiles(kind, {right});
    else
      expect_compiles(kind, {left, right});
  }
}

INSTANTIATE_TEST_SUITE_P(, ElementwiseSource,
                         testing::Values(Arithmetic::add, Arithmetic::subtract,
                                         Arithmetic::multiply, Arithmetic::divide,
                                         Arithmetic::negative),
                         [](const auto& given) { return facts(given.param).op_name; });

}  // namespace
}  // namespace spanwise::ops
