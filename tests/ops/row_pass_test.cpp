// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The kernels of a row pass: compiled for an H200 without one, and run on the CPU.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "../../ops/elementwise/row_pass/row_pass.hpp"
#include "spanwise/runtime/creation.hpp"
#include "support/compiled_source.hpp"
#include "support/nvrtc_fixture.hpp"

namespace spanwise::ops {
namespace {

// Inputs y, z and a number n: z - y, and (z - y) * n, which are the weights.
ElementProgram difference(DType dtype) {
  ElementProgram program{{dtype, dtype, dtype}, {}, {3, 4}};
  program.steps.push_back({resolve(OpId::subtract, std::array{dtype, dtype}), {1, 0}});
  program.steps.push_back({resolve(OpId::multiply, std::array{dtype, dtype}), {3, 2}});
  return program;
}

RowPass pass_of(DType dtype) {
  RowPass pass;
  pass.program = difference(dtype);
  pass.product_input = 1;
  pass.weights_output = 1;
  pass.alpha = -2;
  pass.beta = 3;
  pass.has_addend = pass.has_sum = true;
  ElementProgram after_sum{{dtype, dtype}, {}, {2}};
  after_sum.steps.push_back({resolve(OpId::add, std::array{dtype, dtype}), {0, 1}});
  pass.sum_program = after_sum;
  pass.sum_input = 1;
  return pass;
}

class RowPassSource : public test::NvrtcTest<> {};

TEST_F(RowPassSource, Compiles) {
  for (const DType dtype : {float32, float64})
    for (const int width : {1, 2})
      for (const std::uint64_t numbers : {0, 0b101000}) {
        const RowPassShape shape{width, 3, 64, 4, numbers};
        const std::string source = row_pass_source(pass_of(dtype), shape);
        SCOPED_TRACE(testing::Message() << dtype);
        test::expect_compiles(source, {"pass", "finish"}, {.options = {"--fmad=false"}});
      }
}

// Small whole numbers, which no order of additions rounds.
Array numbers(const Shape& shape, int seed) {
  Array values = empty(shape, float32, cpu);
  auto* data = static_cast<float*>(values.data());
  for (std::int64_t i = 0; i < values.size(); ++i)
    data[i] = static_cast<float>((i * 7 + seed * 5 + i / 3) % 9 - 4);
  return values;
}
float at(const Array& array, std::int64_t i) { return static_cast<const float*>(array.data())[i]; }

constexpr int ranks[] = {2, 1, 1, 0, 1, 0};  // of the inputs x, w, y, n, addend and b below

// Runs a row pass by the kernels for GPUs, compiled for the CPU, or by the CPU's own loops.
template <class Runner>
void expect_exact_results(Runner runner) {
  for (const auto& [rows, columns] : {std::pair{1, 1}, {7, 5}, {30, 64}, {70, 1030}}) {
    const Array x = numbers({rows, columns}, 1), w = numbers({columns}, 2), y = numbers({rows}, 3);
    const Array n = numbers({}, 4), addend = numbers({columns}, 5), b = numbers({}, 6);
    const std::vector<const Array*> inputs{&x, &w, &y, &n, &addend, &b};
    std::vector<Array> outputs;
    for (const Shape& shape : {Shape{rows}, Shape{rows}, Shape{columns}, Shape(), Shape()})
      outputs.push_back(empty(shape, float32, cpu));
    runner.run(inputs, outputs);
    std::vector<float> sums(static_cast<std::size_t>(columns));
    float total = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      float z = 0;
      for (std::int64_t c = 0; c < columns; ++c) z += at(x, r * columns + c) * at(w, c);
      ASSERT_EQ(at(outputs[0], r), z - at(y, r));
      const float g = (z - at(y, r)) * at(n, 0);
      ASSERT_EQ(at(outputs[1], r), g);
      total += g;
      for (std::int64_t c = 0; c < columns; ++c)
        sums[static_cast<std::size_t>(c)] += at(x, r * columns + c) * g;
    }
    for (std::int64_t c = 0; c < columns; ++c)
      ASSERT_EQ(at(outputs[2], c), -2 * sums[static_cast<std::size_t>(c)] + 3 * at(addend, c));
    ASSERT_EQ(at(outputs[3], 0), total);
    ASSERT_EQ(at(outputs[4], 0), total + at(b, 0));
  }
}

TEST(RowPass, KernelsGiveExactResults) {
  const RowPass pass = pass_of(float32);
  expect_exact_results(CudaRowPass(pass, cpu));
}

TEST(RowPass, CpuLoopsGiveExactResults) {
  const RowPass pass = pass_of(float32);
  expect_exact_results(CpuRowPass(pass, ranks));
}

TEST(RowPass, AcceptsContiguousRowsOnly) {
  const RowPass pass = pass_of(float32);
  const RowPassRunner runner(pass, ranks, cpu);
  const Array x = numbers({6, 4}, 1), w = numbers({4}, 2), y = numbers({6}, 3);
  const Array n = numbers({}, 4), b = numbers({}, 6);
  const int swapped[] = {1, 0};
  const Array transposed = numbers({4, 6}, 1).permute(swapped);
  const auto accepts = [&](const Array& matrix, const Array& labels) {
    const std::vector<const Array*> inputs{&matrix, &w, &labels, &n, &w, &b};
    return runner.accepts(inputs);
  };
  EXPECT_TRUE(accepts(x, y));
  EXPECT_TRUE(accepts(x, numbers({1}, 3)));
  EXPECT_FALSE(accepts(transposed, y));
  EXPECT_FALSE(accepts(x, numbers({5}, 3)));
  EXPECT_FALSE(accepts(numbers({0, 4}, 1), numbers({0}, 3)));
}

}  // namespace
}  // namespace spanwise::ops
