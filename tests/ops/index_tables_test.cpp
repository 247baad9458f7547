// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Kernels that compute elements from their indices, and assignments by masks, compiled for the CPU.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "../../ops/indexing/cuda/cuda_indexing.hpp"
#include "../../ops/shape/shape_functions.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "support/compiled_source.hpp"
#include "support/nvrtc_fixture.hpp"

namespace spanwise::ops {
namespace {

Array poisoned_like(const Shape& shape, DType dtype) {
  const Array array = empty(shape, dtype, cpu);
  std::memset(array.data(), 0xa5, static_cast<std::size_t>(array.nbytes()));
  return array;
}
bool equal_bytes(const Array& a, const Array& b) {
  const Array x = contiguous(a), y = contiguous(b);
  return x.shape() == y.shape() &&
         (x.nbytes() == 0 ||
          std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.nbytes())) == 0);
}
// Elements of any dtype whose bytes are not 0.
Array nonzero_bytes(const Shape& shape, DType dtype) {
  const Array array = empty(shape, dtype, cpu);
  auto* bytes = static_cast<std::uint8_t*>(array.data());
  for (std::int64_t i = 0; i < array.nbytes(); ++i)
    bytes[i] = static_cast<std::uint8_t>(1 + i % 251);
  return array;
}

TEST(IndexTables, RangesByKernelsEqualThoseOfTheHost) {
  for (const std::int64_t count : {1, 2, 3, 1000, 100'003}) {
    for (const DType dtype : {int64, int32}) {
      const Array expected = integer_range(-7, 13, count, dtype),
                  range = poisoned_like({count}, dtype);
      write_integer_range(range, -7, 13, true);
      EXPECT_TRUE(equal_bytes(range, expected)) << dtype << count;
    }
    for (const DType dtype : {float64, float32}) {
      const Array expected = float_range(0.3, 0.4, count, dtype),
                  range = poisoned_like({count}, dtype);
      write_float_range(range, 0.3, 0.4, true);
      EXPECT_TRUE(equal_bytes(range, expected)) << dtype << count;
      const Array linear = linear_range(-1, 0.1, 5.25, count, dtype),
                  line = poisoned_like({count}, dtype);
      write_linear_range(line, -1, 0.1, 5.25, true);
      EXPECT_TRUE(equal_bytes(line, linear)) << dtype << count;
    }
  }
}

TEST(IndexTables, TrianglesByKernelsEqualThoseOfTheHost) {
  const int swapped[] = {0, 2, 1}, backwards[] = {2, 1, 0};
  for (const DType dtype : {uint8, float16, int32, float64, complex128})
    for (const std::int64_t diagonal : {-40, -2, 0, 1, 17, 100})
      for (const bool keeps_lower : {true, false}) {
        const Array matrices = nonzero_bytes({3, 33, 20}, dtype);
        for (const Array& x : {matrices, matrices.permute(swapped), matrices.permute(backwards),
                               nonzero_bytes({20}, dtype).broadcast_to({2, 5, 20})}) {
          const Array expected = triangle(x, diagonal, keeps_lower);
          const Array result = poisoned_like(x.shape(), dtype);
          triangle_by_kernel(x, diagonal - !keeps_lower, keeps_lower, result);
          ASSERT_TRUE(equal_bytes(result, expected)) << dtype << diagonal << keeps_lower;
        }
      }
}

TEST(IndexTables, MaskedFillsWriteSelectedElementsOnly) {
  const int swapped[] = {1, 0};
  for (const DType dtype : {uint8, float16, float32, float64, complex128}) {
    const Array mask = empty({30, 7}, bool_, cpu);
    for (std::int64_t i = 0; i < mask.size(); ++i) static_cast<bool*>(mask.data())[i] = i % 3 == 1;
    const Array row = nonzero_bytes({7}, dtype), value = nonzero_bytes({}, dtype);
    for (const Array& source : {row, value})
      for (const bool is_transposed : {false, true}) {
        Array target = poisoned_like(is_transposed ? Shape{7, 30} : Shape{30, 7}, dtype);
        if (is_transposed) target = target.permute(swapped);
        const Array all = source.broadcast_to(target.shape()), before = copy(target);
        fill_masked_on_gpu(target, mask, all);
        for (std::int64_t i = 0; i < 30; ++i)
          for (std::int64_t j = 0; j < 7; ++j) {
            const auto at = [&](const Array& x) { return x.index(0, i).index(0, j); };
            const bool is_selected = (i * 7 + j) % 3 == 1;
            ASSERT_TRUE(equal_bytes(at(target), at(is_selected ? all : before))) << i << ' ' << j;
          }
      }
  }
}

TEST(IndexTables, JoinsByOneKernelEqualCopies) {
  const int swapped[] = {1, 0, 2};
  for (const DType dtype : {uint8, float32, complex128})
    for (int axis = 0; axis < 3; ++axis) {
      std::vector<Array> arrays;
      for (const std::int64_t extent : {1, 7, 4}) {
        Shape shape{5, 6, 3};
        shape[axis] = extent;
        arrays.push_back(nonzero_bytes(shape, dtype));
      }
      arrays[1] = arrays[1].slice(2, {{}, {}, -1});
      arrays[2] = copy(arrays[2].permute(swapped)).permute(swapped);
      const Array expected = concatenate(arrays, axis, dtype);
      const Array result = poisoned_like(expected.shape(), dtype);
      join_by_kernel(arrays, axis, result);
      ASSERT_TRUE(equal_bytes(result, expected)) << dtype << axis;
    }
}

class IndexTableSource : public test::NvrtcTest<> {};

TEST_F(IndexTableSource, MaskedFillsCompile) {
  for (const int bytes : {1, 2, 4, 8, 16})
    for (const bool has_number : {true, false}) {
      const strided::Body body = masked_fill_body(bytes, has_number);
      strided::PlanShape shape;
      shape.count = static_cast<std::uint8_t>(body.arrays.size());
      test::expect_compiles(cuda_source(body, shape), {"run"});
    }
}

}  // namespace
}  // namespace spanwise::ops
