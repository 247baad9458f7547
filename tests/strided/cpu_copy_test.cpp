// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "core/element_conversion.hpp"
#include "runtime/backend.hpp"
#include "spanwise/core/element_types.hpp"
#include "strided/cpu/block_kernels.hpp"
#include "strided/guarded_operand.hpp"
#include "support/layouts.hpp"

namespace spanwise::strided {
namespace {

const std::vector<DType> computable{bool_,    int8,    int16,   int32,     int64,
                                    uint8,    uint16,  uint32,  uint64,    float16,
                                    bfloat16, float32, float64, complex64, complex128};

void copy_on_cpu(const Array& source, const Array& target) {
  runtime::element_loops(cpu).copy(source, target, runtime::current_stream(cpu));
}
void fill_on_cpu(const Array& target, const Scalar& value) {
  runtime::element_loops(cpu).fill(target, value, runtime::current_stream(cpu));
}

// Copies and compares all bytes of the target with those of a copy by element.
void expect_copied(GuardedOperand& source, GuardedOperand& target, const std::string& label) {
  GuardedOperand expected = target;
  test::for_each_index(source.layout.shape, [&](const std::vector<std::int64_t>& index) {
    if (source.dtype == target.dtype) {
      std::memcpy(expected.element(index), source.element(index),
                  static_cast<std::size_t>(source.dtype.itemsize()));
      return;
    }
    core::visit(source.dtype, "test", [&](auto from) {
      core::visit(target.dtype, "test", [&](auto to) {
        using From = typename decltype(from)::type;
        using To = typename decltype(to)::type;
        const To value = core::convert<To>(core::load<From>(source.element(index)));
        std::memcpy(expected.element(index), &value, sizeof value);
      });
    });
  });
  copy_on_cpu(source.array(), target.array());
  EXPECT_TRUE(expected.bytes == target.bytes)
      << label << ": " << source.layout << " -> " << target.layout;
}

Shape random_shape(std::mt19937& random, std::int64_t max_extent) {
  Shape shape(static_cast<int>(random() % 5));
  for (std::int64_t& extent : shape) extent = 1 + static_cast<std::int64_t>(random()) % max_extent;
  return shape;
}

TEST(CpuCopy, MovesEveryDtypeBetweenRandomLayouts) {
  std::mt19937 random(1);
  std::vector<DType> dtypes = computable;
  for (const int bits : {8, 16, 128}) dtypes.emplace_back(DTypeCode::opaque, bits);
  for (int round = 0; round < 400; ++round) {
    const DType dtype = dtypes[random() % dtypes.size()];
    const Shape shape = random_shape(random, 9);
    GuardedOperand source = random_operand(shape, dtype, true, random);
    GuardedOperand target = random_operand(shape, dtype, false, random);
    expect_copied(source, target, dtype.name());
  }
}

TEST(CpuCopy, CastsEveryPairOfDtypesBetweenRandomLayouts) {
  std::mt19937 random(2);
  for (const DType from : computable) {
    for (const DType to : computable) {
      for (int round = 0; round < 3; ++round) {
        const Shape shape = random_shape(random, 7);
        GuardedOperand source = random_operand(shape, from, true, random);
        GuardedOperand target = random_operand(shape, to, false, random);
        set_small_integers(source, random);
        expect_copied(source, target, from.name() + " -> " + to.name());
      }
    }
  }
}

// The arrays are large enough for several blocks and threads; extents are no multiples of a tile's.
TEST(CpuCopy, MovesLargeTransposesAndSlices) {
  std::mt19937 random(3);
  for (const DType dtype : {uint8, float16, float32, float64, complex128}) {
    for (const Shape& shape :
         {Shape{517, 1031}, Shape{33, 70, 301}, Shape{3, 300, 401}, Shape{500, 700, 3}}) {
      GuardedOperand source = random_operand(shape, dtype, false, random);
      GuardedOperand target = random_operand(shape, dtype, false, random);
      target.layout = Layout::row_major(shape);
      source.layout = Layout::column_major(shape);
      expect_copied(source, target, "transpose " + dtype.name());
      source.layout = Layout::row_major(shape);
      expect_copied(source, target, "contiguous " + dtype.name());
    }
    const Shape shape{700, 900};
    GuardedOperand source = random_operand(shape, dtype, false, random);
    GuardedOperand target = random_operand(shape, float64, false, random);
    set_small_integers(source, random);
    expect_copied(source, target, "cast " + dtype.name());
  }
}

TEST(CpuCopy, MovesTransposesOfSmallAxes) {
  std::mt19937 random(9);
  for (const DType dtype : {uint8, float16, float32, float64, complex128}) {
    for (const Strides& signs : {Strides{1, 1, 1}, Strides{-1, 1, -1}, Strides{1, -1, 1}}) {
      const std::int64_t n = 300 + static_cast<std::int64_t>(random() % 5);
      const Shape shape{n, 5, 4};
      constexpr std::int64_t margin = 7;  // elements on both sides
      const auto make_operand = [&](Strides strides) {
        GuardedOperand operand{{}, {shape, Strides(3), margin}, dtype};
        for (int axis = 0; axis < 3; ++axis) {
          operand.layout.strides[axis] = signs[axis] * strides[axis];
          if (signs[axis] < 0) operand.layout.offset += strides[axis] * (shape[axis] - 1);
        }
        operand.bytes.resize(static_cast<std::size_t>((n * 21 + 2 * margin) * dtype.itemsize()));
        for (std::byte& byte : operand.bytes) byte = static_cast<std::byte>(random());
        return operand;
      };
      GuardedOperand source = make_operand({21, 1, 5}), target = make_operand({20, 4, 1});
      expect_copied(source, target, "small axes " + dtype.name());
    }
  }
}

// In tiles of several axes: some are small, and extents are no multiples of a tile's.
TEST(CpuCopy, MovesAndCastsPermutationsOfAnyExtents) {
  std::mt19937 random(11);
  const DType dtypes[] = {uint8, float16, float32, float64, complex128};
  for (int round = 0; round < 60; ++round) {
    Shape shape;
    for (std::int64_t size = 20000 + static_cast<std::int64_t>(random() % 60000); size > 1;) {
      const auto extent =
          2 + static_cast<std::int64_t>(random()) % std::min<std::int64_t>(size, 90);
      shape = shape.inserted(shape.size(), extent);
      size /= extent;
    }
    std::vector<int> order(static_cast<std::size_t>(shape.size()));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    const DType from = dtypes[random() % 5], to = random() % 2 == 0 ? from : dtypes[random() % 5];
    const Layout memory = Layout::row_major(shape);
    Layout source_layout = memory.permute(order);
    if (random() % 4 == 0) {
      const int axis = static_cast<int>(random() % order.size());
      source_layout = source_layout.slice(axis, {{}, {}, -1});
    }
    GuardedOperand source = random_operand(source_layout.shape, from, false, random);
    GuardedOperand target = random_operand(source_layout.shape, to, false, random);
    source.layout = source_layout;
    target.layout = Layout::row_major(source_layout.shape);
    if (from != to) set_small_integers(source, random);
    expect_copied(source, target, from.name() + " -> " + to.name());
  }
}

// Layouts of each class that has separate loops. Extents are near those of tiles and registers.
TEST(CpuCopy, WritesOnlyTheTargetForEachClassOfLayouts) {
  std::mt19937 random(6);
  const auto around = [&](std::int64_t n) {
    return std::max<std::int64_t>(1, n + static_cast<std::int64_t>(random() % 9) - 4);
  };
  for (const DType dtype : {uint8, uint16, float32, float64, complex128}) {
    for (int round = 0; round < 25; ++round) {
      const std::vector<Shape> shapes{
          {around(16), around(16)},  {around(64), around(130)},
          {around(130), around(33)}, {around(4), around(900)},
          {around(900), around(4)},  {3, around(40), around(40)},
          {around(9), 7, around(5)}, {around(20), around(20), around(3)}};
      const Shape& shape = shapes[static_cast<std::size_t>(round) % shapes.size()];
      GuardedOperand source = random_operand(shape, dtype, false, random);
      GuardedOperand target = random_operand(shape, dtype, false, random);
      const Slice backwards{{}, {}, -1};
      source.layout = Layout::column_major(shape);
      target.layout = Layout::row_major(shape);
      if (round % 3 == 1)
        source.layout = source.layout.slice(static_cast<int>(random() % 2), backwards);
      if (round % 4 == 1)
        target.layout = target.layout.slice(static_cast<int>(random() % 2), backwards);
      expect_copied(source, target, "transposed, reversed " + dtype.name());
    }
  }
}

TEST(CpuCopy, SwapsTheBytesOfWords) {
  std::mt19937 random(7);
  for (const std::int64_t width : {2, 4, 8}) {
    for (const std::int64_t count : {1, 5, 33, 5000}) {
      const Shape shape{3, count, width};
      GuardedOperand source = random_operand(shape, uint8, false, random);
      GuardedOperand target = random_operand(shape, uint8, false, random);
      target.layout = Layout::row_major(shape);
      source.layout = Layout::row_major(shape).slice(2, {{}, {}, -1});
      expect_copied(source, target, "byte order");
      const int swapped_axes[] = {1, 0, 2};  // the order of the words changes, too
      source.layout =
          Layout::row_major({count, 3, width}).permute(swapped_axes).slice(2, {{}, {}, -1});
      expect_copied(source, target, "byte order, transposed");
    }
  }
}

// Large enough for non-temporal stores, at aligned and unaligned addresses.
TEST(CpuCopy, NonTemporalStoresWriteOnlyTheTarget) {
  for (const std::int64_t offset : {0, 1, 3}) {
    for (const bool is_transposed : {false, true}) {
      const Shape shape{2051, 2049};
      const auto size = static_cast<std::size_t>(shape[0] * shape[1]);
      std::vector<float> from(size + 16), to(size + 16, -1.0f), expected = to;
      std::iota(from.begin(), from.end(), 0.0f);
      const auto array = [&](std::vector<float>& values, Layout layout) {
        layout.offset = offset;
        return Array(Storage::adopt(values.data(), values.size() * 4, cpu, nullptr, nullptr),
                     std::move(layout), float32);
      };
      copy_on_cpu(
          array(from, is_transposed ? Layout::column_major(shape) : Layout::row_major(shape)),
          array(to, Layout::row_major(shape)));
      const auto rows = static_cast<std::size_t>(shape[0]), columns = size / rows;
      const auto start = static_cast<std::size_t>(offset);
      for (std::size_t i = 0; i < size; ++i)
        expected[start + i] = from[start + (is_transposed ? i % columns * rows + i / columns : i)];
      EXPECT_TRUE(expected == to) << offset << ' ' << is_transposed;
    }
  }
}

// Called directly: on most processors other loops are selected.
TEST(CpuCopy, BaselineLoopsTransposeTiles) {
  std::mt19937 random(8);
  for (int log2_bytes = 0; log2_bytes < 5; ++log2_bytes) {
    const std::int64_t bytes = std::int64_t{1} << log2_bytes;
    for (const std::int64_t rows : {1, 3, 16, 47, 200}) {
      for (const std::int64_t columns : {1, 5, 16, 33, 130}) {
        std::vector<std::byte> from(static_cast<std::size_t>(rows * columns * bytes));
        for (std::byte& byte : from) byte = static_cast<std::byte>(random());
        std::vector<std::byte> to(from.size() + 32, std::byte{0xa5}), expected = to;
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < columns; ++j)
            std::memcpy(expected.data() + 16 + (i * columns + j) * bytes,
                        from.data() + (j * rows + i) * bytes, static_cast<std::size_t>(bytes));
        baseline_kernels.transpose[log2_bytes]({to.data() + 16, from.data(), rows, columns,
                                                columns * bytes, bytes, bytes, rows * bytes,
                                                columns == 130});
        ASSERT_TRUE(expected == to) << bytes << ": " << rows << " x " << columns;
      }
    }
  }
}

TEST(CpuCopy, FillsAnyLayoutAndNothingElse) {
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    const DType dtype = computable[random() % computable.size()];
    const Shape shape = random_shape(random, 9);
    GuardedOperand target = random_operand(shape, dtype, false, random);
    const Scalar value = Scalar(round % 3 == 0 ? 0.0 : 7.0).cast(dtype);
    GuardedOperand expected = target;
    test::for_each_index(shape, [&](const std::vector<std::int64_t>& index) {
      std::memcpy(expected.element(index), value.data(),
                  static_cast<std::size_t>(dtype.itemsize()));
    });
    fill_on_cpu(target.array(), value);
    EXPECT_TRUE(expected.bytes == target.bytes) << dtype << ' ' << target.layout;
  }
}

TEST(CpuCopy, IgnoresArraysWithoutElements) {
  GuardedOperand source{{}, Layout::row_major(Shape{3, 0}), float32};
  GuardedOperand target{{}, Layout::row_major(Shape{3, 0}), int32};
  EXPECT_NO_THROW(copy_on_cpu(source.array(), target.array()));
  EXPECT_NO_THROW(fill_on_cpu(target.array(), Scalar(std::int32_t{1})));
}

TEST(CpuCopy, RefusesAFillOfAnotherDtype) {
  std::mt19937 random(5);
  GuardedOperand target = random_operand(Shape{3}, float32, false, random);
  EXPECT_THROW(fill_on_cpu(target.array(), Scalar(1.0)), DTypeError);
}

}  // namespace
}  // namespace spanwise::strided
