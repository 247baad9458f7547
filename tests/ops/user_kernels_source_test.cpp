// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The CUDA text around users' expressions, compiled for an H200 without one.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../../ops/user_kernels/elementwise.hpp"
#include "backends/cuda/compiler.hpp"
#include "backends/cuda/nvrtc.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"

namespace spanwise::ops::user_kernels {
namespace {

class UserKernelSource : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda::nvrtc::installation()->library.empty()) GTEST_SKIP() << "NVRTC is not installed";
  }
};

void expect_cubin(const std::string& text_of_kernel, std::initializer_list<const char*> kernels) {
  const runtime::KernelSource source = runtime::scan_kernels(text_of_kernel);
  runtime::CompileRequest request;
  request.source = &source;
  try {
    const runtime::KernelBinary binary = cuda::compile({9, 0}, request);
    for (const char* kernel : kernels) EXPECT_TRUE(binary.symbols.contains(kernel)) << kernel;
  } catch (const CompileError& error) {
    ADD_FAILURE() << error.log() << text_of_kernel;
  }
}

// One array of each layout class, of one shape.
std::vector<Array> layouts(DType dtype) {
  const Array base = zeros({4, 6, 8}, dtype, cpu);
  const Array columns = zeros({8, 6, 4}, dtype, cpu).transpose();
  const Array row = zeros({8}, dtype, cpu).broadcast_to({4, 6, 8});
  const Array every_other = zeros({4, 6, 16}, dtype, cpu).slice(2, {.step = -2});
  return {base, columns, row, every_other};
}

ElementwiseSpec values_spec(std::string in, std::string out, std::string operation) {
  ElementwiseSpec spec;
  spec.common = {"ElementwiseKernel", "user_kernel"};
  spec.in_params = std::move(in);
  spec.out_params = std::move(out);
  spec.operation = std::move(operation);
  return spec;
}

ElementwiseSpec pointers_spec(std::string arguments, std::string operation) {
  ElementwiseSpec spec;
  spec.common = {"ElementwiseKernel", "user_kernel"};
  spec.spelling = Spelling::pointers;
  spec.arguments = std::move(arguments);
  spec.operation = std::move(operation);
  return spec;
}

TEST_F(UserKernelSource, ValuesOfEveryDTypeAndLayoutCompile) {
  const ElementwiseKernel kernel(values_spec("T x, T y, int64 k", "T z", "z = i < k ? x : y"));
  for (const DType dtype : {bool_, int8, uint64, float16, bfloat16, float32, complex64}) {
    const Array z = zeros({4, 6, 8}, dtype, cpu), k = full({}, Scalar(3), int64, cpu);
    for (const Array& x : layouts(dtype)) {
      const Argument arguments[] = {
          {.array = &x}, {.array = &z}, {.number = Scalar(std::int64_t{3})}, {}};
      expect_cubin(kernel.source(arguments, {}, true), {"user_kernel"});
    }
  }
}

TEST_F(UserKernelSource, PointersOfEveryLayoutCompile) {
  const ElementwiseKernel kernel(pointers_spec("float *z, const float *x, float a, float *y",
                                               "float s = x[i];\nif (s < 0) return;\n"
                                               "z[i] = a * s + y[i > 0 ? i - 1 : n - 1] + y[i]"));
  const Array z = zeros({4, 6, 8}, float32, cpu);
  for (const Array& x : layouts(float32))
    for (const Array& y : layouts(float32)) {
      const Argument arguments[] = {
          {.array = &z}, {.array = &x}, {.number = Scalar(2.0f)}, {.array = &y}};
      expect_cubin(kernel.source(arguments, {}, true), {"user_kernel"});
    }
}

TEST_F(UserKernelSource, RawArraysAndTheCountCompile) {
  const ElementwiseKernel kernel(
      values_spec("raw T w, int32 s", "T z", "z = w[(i + s) % _ind.size()] + w.shape()[0]"));
  for (const Array& w : layouts(float64)) {
    const Argument arguments[] = {{.array = &w}, {.number = Scalar(1)}, {}};
    expect_cubin(kernel.source(arguments, 12, true), {"user_kernel"});
  }
}

TEST_F(UserKernelSource, StructsOfThePreambleCompile) {
  ElementwiseSpec spec = pointers_spec("Body *b, Step s", "b[i].x += s.dt * b[i].v");
  spec.common.preamble = "struct Body { float x, v; };\nstruct Step { double dt; };";
  const ElementwiseKernel kernel(spec);
  const Array bodies = zeros({5, 8}, uint8, cpu);
  const double step = 0.5;
  const Argument arguments[] = {{.array = &bodies}, {.bytes = std::as_bytes(std::span(&step, 1))}};
  expect_cubin(kernel.source(arguments, {}, true), {"user_kernel"});
}

}  // namespace
}  // namespace spanwise::ops::user_kernels
