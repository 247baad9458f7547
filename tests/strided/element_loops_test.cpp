// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The copies, casts and fills for GPUs; the CPU runs their kernels.
#include "runtime/backend.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "spanwise/runtime/stream.hpp"
#include "support/layouts.hpp"
#include "support/naive_loops.hpp"

namespace spanwise::strided {
namespace {

using test::between;
using test::Random;
using Bytes = std::vector<unsigned char>;

const runtime::ElementLoops& loops() { return runtime::element_loops(Device(DeviceKind::cuda, 0)); }
runtime::StreamState& stream() { return Stream::current(cpu).state(); }

/// Host memory for the elements of a layout, `shift` bytes after a multiple of 16, filled with
/// `byte`.
class HostMemory {
 public:
  HostMemory(const Layout& layout, DType dtype, int shift, unsigned char byte)
      : layout_(layout), dtype_(dtype), bytes_(size_of(layout, dtype), byte) {
    const auto at = reinterpret_cast<std::uintptr_t>(bytes_.data());
    skip_ = static_cast<std::size_t>((16 - at % 16) % 16) + static_cast<std::size_t>(shift);
  }
  Array array() {
    return Array(
        Storage::adopt(bytes_.data() + skip_, bytes_.size() - skip_, cpu, nullptr, nullptr),
        layout_, dtype_);
  }
  /// The bytes from the start of the array's memory, with unused ones behind its last element.
  Bytes bytes() const {
    return {bytes_.begin() + static_cast<std::ptrdiff_t>(skip_),
            bytes_.end() - 32};  // of which up to 31 precede the array
  }

 private:
  static std::size_t size_of(const Layout& layout, DType dtype) {
    return static_cast<std::size_t>((layout.offset_range().second + 1 + layout.offset) *
                                    dtype.itemsize()) +
           64;  // for the alignment, the shift and stray writes
  }

  Layout layout_;
  DType dtype_;
  Bytes bytes_;
  std::size_t skip_;
};

void set_random_values(const Array& array, Random& random) {
  for (const std::int64_t at : test::offsets(array.layout())) {
    const Scalar value =
        Scalar(static_cast<double>(between(random, -300, 300)) / 4).cast(array.dtype());
    std::memcpy(static_cast<std::byte*>(array.storage().data()) + at * array.dtype().itemsize(),
                value.data(), static_cast<std::size_t>(array.dtype().itemsize()));
  }
}

// Compares the bytes that both have: the alignment decides how many unused ones are at the end.
bool have_equal_prefix(const Bytes& a, const Bytes& b) {
  return std::equal(
      a.begin(), a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())), b.begin());
}

// Copies by the GPU's kernels and by naive loops into equal memory, and compares all bytes.
void check_copy(Random& random, const Layout& source, DType from, const Layout& target, DType to,
                int source_shift = 0, int target_shift = 0) {
  HostMemory source_memory(source, from, source_shift, 0);
  set_random_values(source_memory.array(), random);
  HostMemory actual(target, to, target_shift, 0xa5), expected(target, to, target_shift, 0xa5);
  SCOPED_TRACE(testing::Message() << from << ' ' << source << " + " << source_shift << " -> " << to
                                  << ' ' << target << " + " << target_shift);
  ASSERT_NO_THROW(loops().copy(source_memory.array(), actual.array(), stream()));
  test::naive_copy(test::UnownedArray(source_memory.array()), test::UnownedArray(expected.array()));
  ASSERT_TRUE(have_equal_prefix(actual.bytes(), expected.bytes()));
}

TEST(GpuCopies, MoveElementsOfEveryWidthBetweenRandomLayouts) {
  Random random(20260601);
  for (int round = 0; round < 150 && !testing::Test::HasFailure(); ++round) {
    const DType dtype = std::array{uint8, float16, int32, float64,
                                   complex128}[static_cast<std::size_t>(between(random, 0, 4))];
    const Shape shape = test::random_shape(random, 4, 40);
    check_copy(random, test::with_random_strides(random, shape, 30), dtype,
               test::with_disjoint_strides(random, shape), dtype);
  }
}

// The layout of a transposed view: its axes in the order `order` are C-contiguous.
Layout permuted(const Shape& shape, const std::vector<int>& order) {
  Shape memory(shape.size());
  std::vector<int> inverse(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    memory[static_cast<int>(k)] = shape[order[k]];
    inverse[static_cast<std::size_t>(order[k])] = static_cast<int>(k);
  }
  return Layout::row_major(memory).permute(inverse);
}

TEST(GpuCopies, ReorderTheElementsOfSmallCells) {
  Random random(20260603);
  struct Case {
    Shape shape;
    std::vector<int> order;
  };
  const Case cases[] = {
      {{700, 3}, {1, 0}},        {{3, 700}, {1, 0}},       {{900, 5, 4}, {0, 2, 1}},
      {{4, 2000, 3}, {0, 2, 1}}, {{3, 30, 40}, {1, 2, 0}}, {{2, 900, 2, 3}, {0, 1, 3, 2}},
      {{2, 5, 1024}, {2, 1, 0}}, {{1100, 31}, {1, 0}},     {{5, 3, 640}, {2, 0, 1}}};
  for (const DType dtype : {uint8, float16, float32, float64})
    for (const Case& each : cases)
      for (const bool permutes_target : {false, true}) {
        const Layout row_major = Layout::row_major(each.shape),
                     reordered = permuted(each.shape, each.order);
        check_copy(random, permutes_target ? row_major : reordered, dtype,
                   permutes_target ? reordered : row_major, dtype);
        if (testing::Test::HasFailure()) return;
      }
}

TEST(GpuCopies, ReorderAxesOfAnyExtents) {
  Random random(20260608);
  for (int round = 0; round < 120 && !testing::Test::HasFailure(); ++round) {
    Shape shape;
    for (std::int64_t size = between(random, 5000, 30000); size > 1;) {
      const std::int64_t limit = std::min<std::int64_t>(size, between(random, 2, 200));
      shape = shape.inserted(shape.size(), between(random, 2, static_cast<int>(limit) + 1));
      size /= shape[shape.size() - 1];
    }
    std::vector<int> order(static_cast<std::size_t>(shape.size()));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    const DType dtypes[] = {uint8, float16, float32, float64, complex128};
    const DType from = dtypes[between(random, 0, 4)],
                to = between(random, 0, 1) == 0 ? from : dtypes[between(random, 0, 3)];
    const bool is_reversed = between(random, 0, 3) == 0;
    Layout source = permuted(shape, order), target = Layout::row_major(shape);
    if (is_reversed) source = source.slice(between(random, 0, shape.size() - 1), {{}, {}, -1});
    if (between(random, 0, 1) == 0) std::swap(source, target);
    if (from.is_complex() && !to.is_complex()) continue;
    check_copy(random, source, from, target, to, between(random, 0, 3) * from.itemsize(),
               between(random, 0, 3) * to.itemsize());
  }
}

TEST(GpuCopies, MoveRowsOfAnyAlignment) {
  Random random(20260604);
  for (const DType dtype : {uint8, float16})
    for (const int columns : {64, 100, 257})
      for (const int source_skip : {0, 1, 2, 3})
        for (const int target_skip : {0, 1, 3}) {
          const Layout rows = Layout::row_major({6, columns + 3});
          const auto view = [&](int skip) { return rows.slice(1, {skip, skip + columns, {}}); };
          check_copy(random, view(source_skip), dtype, view(target_skip), dtype);
          check_copy(random, view(source_skip), dtype, Layout::row_major({6, columns}), dtype);
          const Layout vector = Layout::row_major({columns * 40});
          check_copy(random, vector.slice(0, {{}, {}, -1}), dtype, vector, dtype, 2 * source_skip,
                     2 * target_skip);
          check_copy(random, vector, dtype, vector, dtype, 2 * source_skip, 2 * target_skip);
          if (testing::Test::HasFailure()) return;
        }
}

// A view of a larger array with permuted axes, some of them reversed.
Layout random_view(Random& random, const Shape& shape) {
  std::vector<int> order(static_cast<std::size_t>(shape.size()));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  Shape memory = shape;
  std::vector<std::int64_t> skipped;
  for (std::int64_t& extent : memory) {
    skipped.push_back(between(random, 0, 3) == 0 ? between(random, 1, 4) : 0);
    extent += skipped.back();
  }
  Layout layout = permuted(memory, order);
  for (int axis = 0; axis < shape.size(); ++axis) {
    layout = layout.slice(axis, {skipped[static_cast<std::size_t>(axis)], {}, 1});
    if (between(random, 0, 2) == 0) layout = layout.slice(axis, {{}, {}, -1});
  }
  return layout;
}

TEST(GpuCopies, CastBetweenViews) {
  Random random(20260607);
  const DType dtypes[] = {uint8, float16, float32, complex64, complex128};
  for (int round = 0; round < 600 && !testing::Test::HasFailure(); ++round) {
    const DType from = dtypes[between(random, 0, 4)], to = dtypes[between(random, 0, 4)];
    const Shape shape = test::random_shape(random, 3, round % 2 == 0 ? 12 : 40, 1);
    check_copy(random, random_view(random, shape), from, random_view(random, shape), to);
  }
}

TEST(GpuCopies, CastBetweenDtypes) {
  Random random(20260602);
  const std::pair<DType, DType> pairs[] = {
      {float32, float16},   {float64, bfloat16}, {float32, bool_},
      {complex64, float32}, {uint8, complex128}, {float64, uint64},
      {float16, int8},      {bfloat16, float64}, {int64, float16}};
  for (const auto& [from, to] : pairs)
    for (const Layout& source :
         {Layout::row_major({70, 80}), Layout::row_major({80, 70}).transpose(),
          Layout::row_major({70, 161}).slice(1, {1, {}, 2})})
      check_copy(random, source, from, Layout::row_major({70, 80}), to);
}

TEST(GpuCopies, FillsWriteOnlyTheElements) {
  Random random(20260605);
  for (const DType dtype : {uint8, float16, float32, float64, complex128})
    for (int round = 0; round < 12; ++round) {
      const Layout layout =
          test::with_disjoint_strides(random, test::random_shape(random, 3, 60, 1));
      HostMemory actual(layout, dtype, 0, 0xa5), expected(layout, dtype, 0, 0xa5);
      const Scalar value = Scalar(2.5).cast(dtype);
      loops().fill(actual.array(), value, stream());
      test::naive_fill(test::UnownedArray(expected.array()), value);
      ASSERT_TRUE(have_equal_prefix(actual.bytes(), expected.bytes())) << dtype << ' ' << layout;
    }
}

}  // namespace
}  // namespace spanwise::strided
