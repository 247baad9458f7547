// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The user's statements as a body of the strided engine: the GPU's kernels, run on the CPU, against
// the CPU's own loops.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "kernel_expressions/elementwise_specs.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"

namespace spanwise::kernel_expressions {
namespace {

Array numbers(const Shape& shape, DType dtype, int seed) {
  const Array array = empty(shape, int16, cpu);
  for (std::int64_t k = 0; k < array.size(); ++k)
    static_cast<std::int16_t*>(array.data())[k] =
        static_cast<std::int16_t>((k * 7 + k / 13 + seed) % 41);
  return astype(array, dtype);
}
Array poisoned(const Shape& shape, DType dtype) { return full(shape, 91, dtype, cpu); }
Array backwards(const Array& array, int axis) { return array.slice(axis, {{}, {}, -1}); }

// Runs the CPU's loops and the GPU's kernel, each on arrays that a call of `make` returns, and
// compares all arrays.
void expect_same(const ElementwiseSpec& spec, const std::function<std::vector<Array>()>& make) {
  ElementwiseSpec gpu_spec = spec;
  gpu_spec.common.use_gpu_code = true;
  std::vector<Array> results[2] = {make(), make()};
  for (const int side : {0, 1}) {
    std::vector<Argument> arguments;
    for (const Array& array : results[side]) arguments.push_back({.array = &array});
    std::vector<Array> allocated;  // none: all outputs are passed
    ElementwiseKernel(side == 0 ? spec : gpu_spec)(arguments, {}, allocated);
  }
  for (std::size_t k = 0; k < results[0].size(); ++k) {
    const Array by_cpu = contiguous(results[0][k]), by_kernel = contiguous(results[1][k]);
    EXPECT_EQ(
        0, std::memcmp(by_cpu.data(), by_kernel.data(), static_cast<std::size_t>(by_cpu.nbytes())))
        << "argument " << k << " of " << spec.operation;
  }
}

class ElementwiseKernelPlans : public testing::TestWithParam<DType> {};

TEST_P(ElementwiseKernelPlans, TransposedAndReversedInputsMatchTheCpu) {
  const DType dtype = GetParam();
  const ElementwiseSpec spec = values_spec("T x, T y, T w", "T z, T v", "z = x * y + w; v = x - y");
  for (const auto& [rows, columns] : {std::pair{64, 64}, {131, 70}, {20, 300}})
    expect_same(spec, [&, rows = rows, columns = columns] {
      return std::vector{numbers({columns, rows}, dtype, 1).transpose(),
                         backwards(numbers({rows, columns}, dtype, 2), 1),
                         numbers({rows, 1}, dtype, 3), poisoned({rows, columns}, dtype),
                         poisoned({rows, columns}, dtype)};
    });
}

TEST_P(ElementwiseKernelPlans, OutputsOfDifferentLayoutsMatchTheCpu) {
  const DType dtype = GetParam();
  const ElementwiseSpec spec = values_spec("T x", "T z, T v, T u", "z = x; v = x + x; u = x * x");
  expect_same(spec, [&] {
    return std::vector{numbers({48, 80}, dtype, 1), poisoned({48, 80}, dtype),
                       poisoned({80, 48}, dtype).transpose(),
                       backwards(poisoned({48, 80}, dtype), 1)};
  });
}

TEST_P(ElementwiseKernelPlans, OutputsThatAreReadOrNotAlwaysWrittenMatchTheCpu) {
  const DType dtype = GetParam();
  for (const std::string end : {"return", "continue"})
    for (const bool is_transposed : {false, true})
      expect_same(
          values_spec("T x, int32 s", "T z, T v", "z = z + x; if (s % 3 == 0) " + end + "; v = x"),
          [&] {
            const Array x = numbers({70, 70}, dtype, 1);
            return std::vector{is_transposed ? x.transpose() : x, numbers({70, 70}, int32, 2),
                               poisoned({70, 70}, dtype), backwards(poisoned({70, 70}, dtype), 0)};
          });
}

TEST_P(ElementwiseKernelPlans, IndicesCountInCOrderForAnyLayout) {
  const ElementwiseSpec spec = values_spec("T x", "T z, int64 k", "z = x; k = i");
  const auto plain = [](const Array& array) { return array; };
  const auto across = [](const Array& array) { return array.transpose(); };
  const auto back = [](const Array& array) { return backwards(array, 1); };
  const auto all_back = [](const Array& array) { return backwards(backwards(array, 0), 1); };
  const std::vector<std::function<Array(const Array&)>> views{plain, across, back, all_back};
  for (const auto& read : views)
    for (const auto& written : views)
      expect_same(spec, [&] {
        const Array z = poisoned({48, 48}, GetParam());
        return std::vector{read(numbers({48, 48}, GetParam(), 1)), written(z),
                           poisoned({48, 48}, int64)};
      });
}

INSTANTIATE_TEST_SUITE_P(, ElementwiseKernelPlans,
                         testing::Values(uint8, float32, float16, complex64, complex128),
                         [](const auto& test_info) { return test_info.param.name(); });

TEST(ElementwiseKernelMemory, ElementsOfAnInputAreReadByAnyIndex) {
  const ElementwiseSpec spec = pointers_spec("int *z, const int *x", "z[i] = x[i] + x[n - 1 - i]");
  for (const bool is_transposed : {false, true})
    for (const bool is_backwards : {false, true})
      expect_same(spec, [&] {
        const Array x = numbers({64, 48}, int32, 1);
        const Array read = is_transposed ? x.transpose() : x;
        const Array z = poisoned(read.shape(), int32);
        return std::vector{is_backwards ? backwards(z, 1) : z, read};
      });
}

TEST(ElementwiseKernelMemory, AddressesAndAtomicsReachTheArray) {
  ElementwiseSpec spec = pointers_spec("int *z, const int *x, int *total",
                                       "add(&z[i], x[i]); atomicAdd(&total[0], x[i])");
  spec.common.preamble = "__device__ void add(int* to, int x) { atomicAdd(to, x); }";
  for (const int columns : {64, 63})
    expect_same(spec, [&] {
      return std::vector{poisoned({70, columns}, int32),
                         numbers({columns, 70}, int32, 1).transpose(), zeros({1}, int32, cpu)};
    });
}

TEST(ElementwiseKernelMemory, StructsAreReadAndWritten) {
  ElementwiseSpec spec = pointers_spec("Body *b, const Body *a", "b[i].x += a[i].v; b[i].v = 3");
  spec.common.preamble = "struct Body { int x, v, w; };";
  const int order[] = {1, 0, 2};
  for (const bool is_transposed : {false, true})
    expect_same(spec, [&] {
      const Array a = numbers({40, 40, 12}, uint8, 1);
      return std::vector{numbers({40, 40, 12}, uint8, 2), is_transposed ? a.permute(order) : a};
    });
}

// Threads without elements run the statements too.
TEST(ElementwiseKernelMemory, StatementsAroundTheLoopRunOncePerThread) {
  ElementwiseSpec spec = values_spec("int32 x, raw int32 total", "int32 z", "sum += x; z = x");
  spec.loop_prep = "int sum = 0";
  spec.after_loop = "atomicAdd((int*)&total[0], sum)";
  for (const int columns : {64, 61})
    for (const bool is_transposed : {false, true})
      expect_same(spec, [&] {
        const Array x = numbers({columns, columns}, int32, 1);
        return std::vector{is_transposed ? x.transpose() : x, zeros({1}, int32, cpu),
                           poisoned({columns, columns}, int32)};
      });
}

}  // namespace
}  // namespace spanwise::kernel_expressions
