// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "spanwise/core/view.hpp"
#include "spanwise/op_sdk.hpp"
#include "support/message_of.hpp"

namespace spanwise {
namespace {

using test::message_of;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t any = TensorType::any;

Array iota(const Shape& shape, DType dtype, Device device) {
  const Array host = empty(shape, float64, cpu);
  for (std::int64_t i = 0; i < host.size(); ++i)
    static_cast<double*>(host.data())[i] = static_cast<double>(i);
  return to_device(astype(host, dtype), device);
}

std::vector<double> values_of(const Array& array) {
  const Array host = contiguous(astype(to_device(array, cpu), float64));
  const auto* data = static_cast<const double*>(host.data());
  return {data, data + host.size()};
}

/// Tests that run on each kind of device present.
class KernelOps : public testing::TestWithParam<Device> {
 protected:
  Device device() const { return GetParam(); }
  CompiledFunction compile(std::vector<Variable> inputs, std::vector<Variable> outputs) const {
    FunctionOptions options;
    options.device = device();
    return function(std::move(inputs), std::move(outputs), options);
  }
  /// A function whose only node is `op`.
  CompiledFunction compile(const Ref<const Op>& op, std::vector<TensorType> types) const {
    std::vector<Variable> inputs;
    for (const TensorType& type : types) inputs.emplace_back(type);
    return compile(inputs, (*op)(inputs));
  }
};

KernelOpSpec scale_spec() {
  KernelOpSpec spec;
  spec.name = "scale";
  spec.source = R"(
__global__ void scale(const float *x, float *z, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = factor * x[i];
})";
  spec.inputs = {"x: contiguous float32[n]"};
  spec.outputs = {"z: contiguous float32[n]"};
  spec.scalars = {{"factor", Scalar(2.5)}};
  return spec;
}

TEST_P(KernelOps, DefaultGridCoversTheFirstOutput) {
  const CompiledFunction f = compile(kernel_op(scale_spec()), {TensorType(float32, {any})});
  EXPECT_THAT(values_of(f({iota({3}, float32, device())})[0]), ElementsAre(0, 2.5, 5));
  const std::vector<double> large = values_of(f({iota({1000}, float32, device())})[0]);
  for (std::size_t i = 0; i < large.size(); ++i) EXPECT_EQ(large[i], 2.5 * static_cast<double>(i));
  EXPECT_EQ(f({iota({0}, float32, device())})[0].size(), 0);
}

TEST_P(KernelOps, CopiesAStridedInputForAPointerAndCountsIt) {
  KernelOpSpec spec = scale_spec();
  spec.name = "scale_counted_on_" + device().name();
  spec.kernel = "scale";
  const CompiledFunction f = compile(kernel_op(spec), {TensorType(float32, {any})});
  const Array x = iota({6}, float32, device());
  f({x});
  const Array every_other = x.slice(0, {{}, {}, -2});
  EXPECT_THAT(values_of(f({every_other})[0]), ElementsAre(12.5, 7.5, 2.5));
  EXPECT_THAT(values_of(f({every_other})[0]), ElementsAre(12.5, 7.5, 2.5));
  const std::vector<KernelOpCounts> all = kernel_op_counts();
  const auto counts = std::ranges::find(all, spec.name, &KernelOpCounts::name);
  ASSERT_NE(counts, all.end());
  EXPECT_EQ(counts->shared, 1);
  EXPECT_EQ(counts->copied, 2);
  EXPECT_EQ(counts->bytes_copied, 24);
}

TEST_P(KernelOps, PassesStridesToAView) {
  KernelOpSpec spec;
  spec.name = "transpose_view";
  spec.source = R"(
#include <spanwise/view.cuh>
__global__ void transpose_view(spanwise::View<const int, 2> x, spanwise::View<int, 2> z) {
  long long i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= x.size()) return;
  long long row = i / x.shape[1], column = i % x.shape[1];
  z(column, row) = x(row, column);
})";
  spec.inputs = {"x: strided int32[h, w]"};
  spec.outputs = {"z: strided int32[w, h]"};
  const CompiledFunction f = compile(kernel_op(spec), {TensorType(int32, {any, any})});
  const Array x = iota({4, 5}, int32, device());
  const Array window = x.slice(0, {{}, {}, -2}).slice(1, {1, {}, 2}).as_readonly();
  EXPECT_THAT(values_of(f({window})[0]), ElementsAre(16, 6, 18, 8));
  EXPECT_EQ(values_of(f({x.transpose()})[0]), values_of(x));
  for (const KernelOpCounts& counts : kernel_op_counts())
    if (counts.name == spec.name) {
      EXPECT_EQ(counts.copied, 0);
    }
}

TEST_P(KernelOps, WritesSeveralOutputsWithExpressionsAsShapesAndArguments) {
  KernelOpSpec spec;
  spec.name = "split";
  spec.source = R"(
__global__ void split(const float *x, float *first, float *second, long long half, int k) {
  long long i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= half) return;
  first[i] = x[i] + k;
  second[i] = x[half + i] - k;
})";
  spec.inputs = {"x: contiguous float32[2 * m, m]"};
  spec.outputs = {"first: contiguous float32[m, m]", "second: contiguous float32[m * m]"};
  spec.arguments = {"x", "first", "second", "m * m", "k"};
  spec.scalars = {{"k", Scalar(10)}};
  const Ref<const Op> op = kernel_op(spec);
  const CompiledFunction f = compile(op, {TensorType(float32, {any, any})});
  const std::vector<Array> results = f({iota({4, 2}, float32, device())});
  EXPECT_EQ(results[0].shape(), (Shape{2, 2}));
  EXPECT_THAT(values_of(results[0]), ElementsAre(10, 11, 12, 13));
  EXPECT_THAT(values_of(results[1]), ElementsAre(-6, -5, -4, -3));
  EXPECT_THAT(message_of<LayoutError>([&] { f({iota({5, 2}, float32, device())}); }),
              HasSubstr("split: input x, axis 0: expected extent 2 * m = 4, got 5\n"
                        "Apply node that caused the error: split("));
}

TEST_P(KernelOps, DtypeLettersAndScalarsBindTypesAndTemplateParameters) {
  KernelOpSpec plain;
  plain.name = "twice";
  plain.source = R"(
#include <spanwise/view.cuh>
__global__ void twice(spanwise::View<const T, 1> x, T *z) {
  long long i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < x.size()) z[i] = x(i) + x(i);
})";
  plain.inputs = {"x: strided T[n]"};
  plain.outputs = {"z: contiguous T[n]"};
  KernelOpSpec generic = plain;
  generic.source = R"(
namespace deep {
template <typename T, int STEP>
__global__ void twice(const T *x, T *z, int n) {
  for (int i = threadIdx.x * STEP; i < n && i < (threadIdx.x + 1) * STEP; ++i) z[i] = x[i] + x[i];
}
})";
  generic.inputs = {"x: contiguous T[n]"};
  generic.scalars = {{"STEP", Scalar(4)}};
  generic.arguments = {"x", "z", "n"};
  for (const KernelOpSpec& spec : {plain, generic})
    for (const DType dtype : {float32, float64, uint8, int64}) {
      const CompiledFunction f = compile(kernel_op(spec), {TensorType(dtype, {any})});
      const Array result = f({iota({9}, dtype, device())})[0];
      EXPECT_EQ(result.dtype(), dtype);
      EXPECT_THAT(values_of(result), ElementsAre(0, 2, 4, 6, 8, 10, 12, 14, 16)) << dtype;
    }
}

TEST_P(KernelOps, UsesBlockGridAndSharedMemoryAsDeclared) {
  KernelOpSpec spec;
  spec.name = "reverse_tiles";
  spec.source = R"(
__global__ void reverse_tiles(const int *x, int *z) {
  extern __shared__ int tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = x[i];
  __syncthreads();
  z[i] = tile[blockDim.x - 1 - threadIdx.x];
})";
  spec.inputs = {"x: contiguous int32[n]"};
  spec.outputs = {"z: contiguous int32[n]"};
  spec.scalars = {{"tile", Scalar(4)}};
  spec.arguments = {"x", "z"};
  spec.block = {"tile"};
  spec.grid = {"n // tile"};
  spec.shared = "4 * tile";
  const CompiledFunction f = compile(kernel_op(spec), {TensorType(int32, {any})});
  EXPECT_THAT(values_of(f({iota({8}, int32, device())})[0]), ElementsAre(3, 2, 1, 0, 7, 6, 5, 4));
  EXPECT_EQ(f({iota({3}, int32, device())})[0].size(), 3);  // a grid of 0: nothing to launch
}

TEST_P(KernelOps, DoesNotReuseTheBufferOfAReferencedResult) {
  const Ref<const Op> op = kernel_op(scale_spec());
  const Variable x(TensorType(float32, {any}));
  const Variable y = (*op)(std::vector{x})[0];
  const CompiledFunction f = compile({x}, (*op)(std::vector{y}));
  const Array first = f({iota({3}, float32, device())})[0];
  f({iota({3}, float32, device()).slice(0, {{}, {}, -1})});
  EXPECT_THAT(values_of(first), ElementsAre(0, 6.25, 12.5));
}

TEST_P(KernelOps, AcceptsReadOnlyInputsForNonConstPointers) {
  KernelOpSpec spec = scale_spec();
  spec.source.erase(spec.source.find("const "), 6);
  const CompiledFunction f = compile(kernel_op(spec), {TensorType(float32, {any})});
  EXPECT_THAT(values_of(f({iota({2}, float32, device()).as_readonly()})[0]), ElementsAre(0, 2.5));
}

TEST_P(KernelOps, RefusesADtypeLetterThatDiffersFromTheParameter) {
  KernelOpSpec spec = scale_spec();
  spec.inputs = {"x: contiguous T[n]"};
  EXPECT_THAT(
      message_of<GraphError>([&] { compile(kernel_op(spec), {TensorType(float64, {any})}); }),
      HasSubstr("x is float64, but parameter \"const float * x\""));
}

TEST_P(KernelOps, RefusesAnInvalidLaunch) {
  KernelOpSpec spec = scale_spec();
  spec.grid = {"n - 5"};
  const CompiledFunction f = compile(kernel_op(spec), {TensorType(float32, {any})});
  EXPECT_THAT(message_of<ArgumentError>([&] { f({iota({3}, float32, device())}); }),
              HasSubstr("scale: grid: n - 5 = -2; expected at least 0"));
  spec.grid = {};
  spec.block = {"n - 3"};
  const CompiledFunction g = compile(kernel_op(spec), {TensorType(float32, {any})});
  EXPECT_THAT(message_of<ArgumentError>([&] { g({iota({3}, float32, device())}); }),
              HasSubstr("scale: block: n - 3 = 0; expected at least 1"));
}

TEST_P(KernelOps, CompileErrorsNameTheNodeAndTheUsersLines) {
  KernelOpSpec spec = scale_spec();
  spec.inputs = {"x: contiguous T[n]"};
  spec.source = "__global__ void scale(const T *x, float *z, float factor, int n) {\n  oops();\n}";
  try {
    compile(kernel_op(spec), {TensorType(float32, {any})});
    FAIL() << "nothing was thrown";
  } catch (const CompileError& e) {
    EXPECT_THAT(e.what(), HasSubstr("scale(<TensorType(float32, vector)>), in make_thunk"));
    EXPECT_THAT(e.log(), HasSubstr("oops"));
    EXPECT_THAT(e.log(), ::testing::AnyOf(HasSubstr(":2:"), HasSubstr("(2)")));
  }
}

std::vector<Device> present_devices() {
  std::vector<Device> present{cpu};
  if (!devices().front().is_cpu()) present.push_back(devices().front());
  return present;
}
INSTANTIATE_TEST_SUITE_P(, KernelOps, testing::ValuesIn(present_devices()),
                         [](const auto& test) { return test.param.is_cpu() ? "cpu" : "cuda"; });

TEST(KernelOp, InfersStaticShapesAndDevices) {
  KernelOpSpec spec = scale_spec();
  spec.outputs = {"z: contiguous float32[2 * n]"};
  const Ref<const Op> op = kernel_op(spec);
  EXPECT_EQ((*op)(std::vector{Variable(TensorType(float32, {3}))})[0].type(),
            TensorType(float32, {6}));
  EXPECT_EQ((*op)(std::vector{Variable(TensorType(float32, {any}, cpu))})[0].type(),
            TensorType(float32, {any}, cpu));
}

TEST(KernelOp, RefusesInputsThatDoNotFitTheDeclaration) {
  const Ref<const Op> op = kernel_op(scale_spec());
  const auto apply = [&](const TensorType& type) { (*op)(std::vector{Variable(type, "v")}); };
  EXPECT_THAT(message_of<DTypeError>([&] { apply(TensorType(float64, {any})); }),
              HasSubstr("scale: input x: expected dtype float32, got float64 (v)"));
  EXPECT_THAT(message_of<LayoutError>([&] { apply(TensorType(float32, {any, any})); }),
              HasSubstr("scale: input x: expected 1 axes, got 2 (v)"));
  EXPECT_THAT(message_of<GraphError>([&] { (*op)({}); }), HasSubstr("expected 1 input, got 0"));
}

TEST(KernelOp, EqualSpecificationsAreEqualOps) {
  const Ref<const Op> a = kernel_op(scale_spec()), b = kernel_op(scale_spec());
  EXPECT_TRUE(a->equals(*b));
  EXPECT_EQ(a->hash(), b->hash());
  const auto differs = [&](auto change) {
    KernelOpSpec spec = scale_spec();
    change(spec);
    return !a->equals(*kernel_op(spec));
  };
  EXPECT_TRUE(differs([](KernelOpSpec& s) { s.scalars = {{"factor", Scalar(2.0)}}; }));
  EXPECT_TRUE(differs([](KernelOpSpec& s) { s.scalars = {{"factor", Scalar(2.5F)}}; }));
  EXPECT_TRUE(differs([](KernelOpSpec& s) { s.block = {"128"}; }));
  EXPECT_TRUE(differs([](KernelOpSpec& s) { s.source += "\n"; }));
  EXPECT_TRUE(differs([](KernelOpSpec& s) { s.options.options = {"-DX"}; }));
  EXPECT_TRUE(differs([](KernelOpSpec& s) { s.options.link = {"__device__ int one;"}; }));
  EXPECT_FALSE(a->equals(*make_op("add")));
}

}  // namespace
}  // namespace spanwise
