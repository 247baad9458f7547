// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The CUDA text around users' expressions, compiled for an H200 without one.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "kernel_expressions/elementwise_specs.hpp"
#include "spanwise/kernel_expressions/expression_kernels.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "support/compiled_source.hpp"
#include "support/nvrtc_fixture.hpp"

namespace spanwise::kernel_expressions {
namespace {

class UserKernelSource : public test::NvrtcTest<> {};

void expect_cubin(const std::string& text_of_kernel, const std::vector<std::string>& kernels) {
  test::expect_compiles(text_of_kernel, kernels, {.includes_device_headers = true});
}

// One array of each layout class, of one shape.
std::vector<Array> layouts(DType dtype) {
  const Array base = zeros({4, 6, 8}, dtype, cpu);
  const Array columns = zeros({8, 6, 4}, dtype, cpu).transpose();
  const Array row = zeros({8}, dtype, cpu).broadcast_to({4, 6, 8});
  const Array every_other = zeros({4, 6, 16}, dtype, cpu).slice(2, {.step = -2});
  return {base, columns, row, every_other};
}

TEST_F(UserKernelSource, ValuesOfEveryDTypeAndLayoutCompile) {
  const ElementwiseKernel kernel(values_spec("T x, T y, int64 k", "T z", "z = i < k ? x : y"));
  const auto expect_compiles = [&](const Array& x) {
    const Array y = zeros({4, 6, 8}, x.dtype(), cpu);
    const Argument arguments[] = {
        {.array = &x}, {.array = &y}, {.number = Scalar(std::int64_t{3})}, {}};
    expect_cubin(kernel.source(arguments, {}, true), {"user_kernel"});
  };
  for (const DType dtype : {bool_, int8, uint64, float16, bfloat16, complex64})
    expect_compiles(layouts(dtype)[3]);
  for (const Array& x : layouts(float32)) expect_compiles(x);
}

TEST_F(UserKernelSource, SixteenBitFloatsMixWithNumbersOfC) {
  for (const DType dtype : {float16, bfloat16}) {
    const Array x = zeros({8}, dtype, cpu);
    const ElementwiseKernel kernel(
        values_spec("T x", "T y",
                    "y = x * 2; y = 2.0f * x; y = x + 1L; y = x > 0 ? x : T(0); y = x / 3; "
                    "y = x == 0; y = x * i; y = max(x, T(0)); y = exp(x); y = sqrt(abs(x)) - 1.5"));
    const Argument arguments[] = {{.array = &x}, {}};
    expect_cubin(kernel.source(arguments, {}, true), {"user_kernel"});
  }
}

TEST_F(UserKernelSource, PointersOfEveryLayoutCompile) {
  const ElementwiseKernel kernel(pointers_spec("float *z, const float *x, float a, float *y",
                                               "float s = x[i];\nif (s < 0) return;\n"
                                               "z[i] = a * s + y[i > 0 ? i - 1 : n - 1] + y[i]"));
  const Array z = zeros({4, 6, 8}, float32, cpu);
  for (const Array& x : layouts(float32)) {
    const Argument first[] = {
        {.array = &z}, {.array = &z}, {.number = Scalar(2.0f)}, {.array = &x}};
    expect_cubin(kernel.source(first, {}, true), {"user_kernel"});
    const Argument second[] = {
        {.array = &z}, {.array = &x}, {.number = Scalar(2.0f)}, {.array = &z}};
    expect_cubin(kernel.source(second, {}, true), {"user_kernel"});
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

ReductionAxes along(std::initializer_list<std::size_t> axes) {
  ReductionAxes out;
  out.all = false;
  for (const std::size_t axis : axes) out.axes.set(axis);
  return out;
}

TEST_F(UserKernelSource, ReductionsOverAnyAxesCompile) {
  ReductionSpec spec;
  spec.common = {"ReductionKernel", "user_sum"};
  spec.in_params = "T x, T y";
  spec.out_params = "T z, int64 k";
  spec.map_expr = "x * y + T(i)";
  spec.reduce_expr = "a + b";
  spec.post_map_expr = "z = a; k = _in_ind.size() / _out_ind.size()";
  spec.identity = "0";
  const ReductionKernel kernel(spec);
  const auto expect_compiles = [&](const Array& x, const ReductionAxes& axes) {
    const Array y = zeros({4, 6, 8}, x.dtype(), cpu);
    const Argument arguments[] = {{.array = &x}, {.array = &y}, {}, {}};
    expect_cubin(kernel.source(arguments, axes, true), {"user_sum", "user_sum_fold"});
  };
  for (const Array& x : layouts(float64)) expect_compiles(x, along({0, 2}));
  for (const ReductionAxes& axes : {along({}), along({0}), along({0, 1, 2})})
    expect_compiles(layouts(int16)[3], axes);
  expect_compiles(layouts(float16)[1], along({0}));
}

TEST_F(UserKernelSource, ReductionsOfStructsAndByPointersCompile) {
  ReductionSpec spec;
  spec.common = {"ReductionKernel", "user_argmax"};
  spec.style = ParameterStyle::values;
  spec.common.preamble =
      "struct Best { float x; long long i; Best() = default;\n"
      "  __device__ Best(float v, long long k) : x(v), i(k) {} };";
  spec.in_params = "float32 x";
  spec.out_params = "int64 k";
  spec.map_expr = "Best(x, i)";
  spec.reduce_expr = "a.x >= b.x ? a : b";
  spec.post_map_expr = "k = a.i";
  spec.reduce_type = "Best";
  const ReductionKernel argmax(spec);
  ReductionSpec dot;
  dot.common = {"ReductionKernel", "user_dot"};
  dot.style = ParameterStyle::pointers;
  dot.arguments = "const float *x, float *y";
  dot.result_type = "float64";
  dot.map_expr = "x[i] * y[n - 1 - i]";
  dot.reduce_expr = "a + b";
  dot.identity = "0";
  const ReductionKernel dot_product(dot);
  for (const Array& x : layouts(float32)) {
    const Argument by_value[] = {{.array = &x}, {}};
    expect_cubin(argmax.source(by_value, {}, true), {"user_argmax", "user_argmax_fold"});
    const Argument by_pointer[] = {{.array = &x}, {.array = &x}, {}};
    expect_cubin(dot_product.source(by_pointer, along({1}), true), {"user_dot", "user_dot_fold"});
  }
}

TEST_F(UserKernelSource, ScansCompile) {
  for (const char* type : {"int8", "float16", "float64", "complex64"})
    for (const bool is_exclusive : {false, true}) {
      const ScanKernel kernel({{"ScanKernel", "user_scan"}, type, "a + b", "0", is_exclusive});
      const int rank = is_exclusive ? 3 : 1;
      const ScanAccess access = is_exclusive ? ScanAccess::strided : ScanAccess::packed;
      expect_cubin(kernel.source(rank, true, access), {"user_scan_run", "user_scan_lines"});
      if (std::string_view(type) == "float64")
        expect_cubin(kernel.source(rank, true, ScanAccess::pipelined), {"user_scan_run"});
    }
}

// ---- The kernels for GPUs, run on the CPU with their threads and barriers

Array counted(const Shape& shape, std::int64_t step) {
  const Array out = empty(shape, int64, cpu);
  for (std::int64_t k = 0; k < out.size(); ++k)
    static_cast<std::int64_t*>(out.data())[k] = (k * step) % 1009;
  return out;
}

void expect_equal(const Array& a, const Array& b) {
  ASSERT_EQ(a.shape(), b.shape());
  const Array x = contiguous(a), y = contiguous(b);
  EXPECT_EQ(0, std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.nbytes()))) << a;
}

std::vector<Array> windows() {
  const Array base = counted({6, 50, 40}, 7);
  const int order[] = {2, 0, 1};
  return {base,
          base.transpose(),
          base.permute(order),
          base.slice(1, {.step = -3}),
          base.index(0, 2),
          counted({40}, 3).broadcast_to({5, 40}),
          counted({5000}, 11),
          counted({1}, 1)};
}

TEST(UserKernelsAsOnAGpu, ElementwiseMatchesTheCpu) {
  ElementwiseSpec spec =
      values_spec("T x", "T y, int64 k", "if (x % 3 == 0) return; y = 2 * x; k = i");
  ElementwiseSpec plain = values_spec("T x", "T y", "y = x + 1");
  for (ElementwiseSpec* tested : {&spec, &plain}) {
    ElementwiseSpec gpu_spec = *tested;
    gpu_spec.common.use_gpu_code = true;
    const ElementwiseKernel cpu_kernel(*tested), gpu_kernel(gpu_spec);
    for (const Array& x : windows()) {
      std::vector<Array> outputs[2];
      for (std::vector<Array>& out : outputs)
        for (std::size_t k = 1; k < cpu_kernel.parameters().size(); ++k)
          out.push_back(zeros(x.shape(), int64, cpu));
      for (int side = 0; side < 2; ++side) {
        std::vector<Argument> arguments{{.array = &x}};
        for (const Array& out : outputs[side]) arguments.push_back({.array = &out});
        std::vector<Array> allocated;  // none: all outputs are passed
        (side == 0 ? cpu_kernel : gpu_kernel)(arguments, {}, allocated);
      }
      for (std::size_t k = 0; k < outputs[0].size(); ++k)
        expect_equal(outputs[0][k], outputs[1][k]);
    }
  }
}

TEST(UserKernelsAsOnAGpu, ReductionsMatchTheCpu) {
  ReductionSpec spec;
  spec.common = {"ReductionKernel", "sum_on_gpu"};
  spec.in_params = "T x";
  spec.out_params = "int64 z";
  spec.map_expr = "x * (i + 1)";
  spec.reduce_expr = "a + b";
  spec.identity = "0";
  ReductionSpec gpu_spec = spec;
  gpu_spec.common.use_gpu_code = true;
  const ReductionKernel cpu_kernel(spec), gpu_kernel(gpu_spec);
  std::vector<Array> inputs = windows();
  inputs.push_back(counted({300'000}, 13));
  inputs.push_back(counted({20'000, 5}, 13));
  inputs.push_back(counted({2'000, 64}, 13));
  for (const Array& x : inputs)
    for (std::size_t axis = 0; axis <= static_cast<std::size_t>(x.rank()); ++axis) {
      const bool all = axis == static_cast<std::size_t>(x.rank());
      ReductionAxes axes = all ? ReductionAxes{} : along({axis});
      const Argument arguments[] = {{.array = &x}, {}};
      std::vector<Array> first, second;
      cpu_kernel(arguments, axes, first);
      gpu_kernel(arguments, axes, second);
      expect_equal(first.at(0), second.at(0));
    }
}

TEST(UserKernelsAsOnAGpu, ScansMatchTheCpu) {
  for (const bool is_exclusive : {false, true}) {
    // Associative and not commutative.
    ScanSpec spec{{"ScanKernel", "last_on_gpu"}, "int64", "b % 7 == 0 ? b : a", "-1", is_exclusive};
    ScanSpec gpu_spec = spec;
    gpu_spec.common.use_gpu_code = true;
    const ScanKernel cpu_kernel(spec), gpu_kernel(gpu_spec);
    std::vector<Array> inputs = windows();
    for (const std::int64_t n : {4095, 4096, 4097, 140'000}) inputs.push_back(counted({n}, 5));
    for (const Array& x : inputs)
      for (int axis = 0; axis < x.rank(); ++axis) {
        const Array first = zeros(x.shape(), int64, cpu), second = zeros(x.shape(), int64, cpu);
        cpu_kernel(x, first, axis);
        gpu_kernel(x, second, axis);
        expect_equal(first, second);
      }
  }
}

}  // namespace
}  // namespace spanwise::kernel_expressions
