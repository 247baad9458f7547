// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The GPU's copies, casts and fills, whose kernels are run on the CPU.
#include "runtime/element_loops.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "spanwise/stream.hpp"
#include "support/layouts.hpp"
#include "support/naive_loops.hpp"

namespace spanwise::strided {
namespace {

using test::between;
using test::Random;
using Bytes = std::vector<unsigned char>;

const runtime::ElementLoops& loops() { return runtime::element_loops(Device(DeviceKind::cuda, 0)); }
runtime::StreamState& stream() { return Stream::current(cpu).state(); }

/// Host memory that the layout's elements lie in, `shift` bytes from a multiple of 16.
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
  /// From the first byte of the array's memory on.
  Bytes bytes() const {
    return {bytes_.begin() + static_cast<std::ptrdiff_t>(skip_), bytes_.end() - 32};
  }

 private:
  static std::size_t size_of(const Layout& layout, DType dtype) {
    return static_cast<std::size_t>((layout.extent().second + 1 + layout.offset) *
                                    dtype.itemsize()) +
           64;
  }

  Layout layout_;
  DType dtype_;
  Bytes bytes_;
  std::size_t skip_;
};

void put_values(const Array& array, Random& random) {
  for (const std::int64_t at : test::offsets(array.layout())) {
    const Scalar value =
        Scalar(static_cast<double>(between(random, -300, 300)) / 4).cast(array.dtype());
    std::memcpy(static_cast<std::byte*>(array.storage().data()) + at * array.dtype().itemsize(),
                value.data(), static_cast<std::size_t>(array.dtype().itemsize()));
  }
}

// Both vectors end in bytes that nothing writes, of which one may have more.
bool prefix(const Bytes& a, const Bytes& b) {
  return std::equal(
      a.begin(), a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())), b.begin());
}

// Copies by the GPU's kernels and by naive loops into equal memory, of which no other byte changes.
void check_copy(Random& random, const Layout& source, DType from, const Layout& target, DType to,
                int source_shift = 0, int target_shift = 0) {
  HostMemory given(source, from, source_shift, 0);
  put_values(given.array(), random);
  HostMemory got(target, to, target_shift, 0xa5), wanted(target, to, target_shift, 0xa5);
  SCOPED_TRACE(testing::Message() << from << ' ' << source << " + " << source_shift << " -> " << to
                                  << ' ' << target << " + " << target_shift);
  ASSERT_NO_THROW(loops().copy(given.array(), got.array(), stream()));
  test::naive_copy(test::Window(given.array()), test::Window(wanted.array()));
  ASSERT_TRUE(prefix(got.bytes(), wanted.bytes()));
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

// Views as users make them, of memory in another order of axes.
Layout permuted(const Shape& shape, const std::vector<int>& order) {
  Shape memory(shape.size());
  std::vector<int> back(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    memory[static_cast<int>(k)] = shape[order[k]];
    back[static_cast<std::size_t>(order[k])] = static_cast<int>(k);
  }
  return Layout::row_major(memory).permute(back);
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
      for (const bool back : {false, true}) {
        const Layout plain = Layout::row_major(each.shape),
                     other = permuted(each.shape, each.order);
        check_copy(random, back ? plain : other, dtype, back ? other : plain, dtype);
        if (testing::Test::HasFailure()) return;
      }
}

TEST(GpuCopies, MoveRowsOfAnyAlignment) {
  Random random(20260604);
  for (const DType dtype : {uint8, float16})
    for (const int columns : {64, 100, 257})
      for (const int left : {0, 1, 2, 3})
        for (const int right : {0, 1, 3}) {
          const Layout memory = Layout::row_major({6, columns + 3});
          const auto view = [&](int skip) { return memory.slice(1, {skip, skip + columns, {}}); };
          check_copy(random, view(left), dtype, view(right), dtype);
          check_copy(random, view(left), dtype, Layout::row_major({6, columns}), dtype);
          const Layout run = Layout::row_major({columns * 40});
          check_copy(random, run.slice(0, {{}, {}, -1}), dtype, run, dtype, 2 * left, 2 * right);
          check_copy(random, run, dtype, run, dtype, 2 * left, 2 * right);
          if (testing::Test::HasFailure()) return;
        }
}

// A view of a larger array with permuted axes, some of them reversed.
Layout view_of(Random& random, const Shape& shape) {
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
    check_copy(random, view_of(random, shape), from, view_of(random, shape), to);
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
      HostMemory got(layout, dtype, 0, 0xa5), wanted(layout, dtype, 0, 0xa5);
      const Scalar value = Scalar(2.5).cast(dtype);
      loops().fill(got.array(), value, stream());
      test::naive_fill(test::Window(wanted.array()), value);
      ASSERT_TRUE(prefix(got.bytes(), wanted.bytes())) << dtype << ' ' << layout;
    }
}

}  // namespace
}  // namespace spanwise::strided
