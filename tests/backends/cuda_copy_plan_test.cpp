// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/copy/copy_plan.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "support/layouts.hpp"

namespace spanwise::cuda {
namespace {

using test::between;
using test::Random;

// Bytes in host memory, aligned as the driver's allocations are, behind an Array of any dtype.
class HostBytes {
 public:
  explicit HostBytes(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes) + 256) {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
    start_ = bytes_.data() + (256 - address % 256) % 256;
    size_ = static_cast<std::size_t>(bytes);
  }
  Array array(Layout layout, DType dtype) {
    return Array(Storage::adopt(start_, size_, cpu, nullptr, nullptr), std::move(layout), dtype);
  }
  unsigned char* data() { return start_; }
  std::size_t size() const { return size_; }

 private:
  std::vector<unsigned char> bytes_;
  unsigned char* start_ = nullptr;
  std::size_t size_ = 0;
};

// Offset of element `i` of the unit at `place` in the source, in elements.
std::int64_t source_element(const CopyPlan& plan, std::int64_t location, std::int64_t i) {
  switch (plan.pattern) {
    case CopyPlan::AccessPattern::contiguous:
      return location * plan.elements + i;
    case CopyPlan::AccessPattern::reversed:
      return location * plan.elements + i / plan.group * plan.group + plan.group - 1 -
             i % plan.group;
    default:
      return location + i * plan.step;
  }
}

// Whole runs; the last axis counts their pieces.
void run_aligned_chunks(const CopyPlan& plan, const unsigned char* from, unsigned char* to) {
  Shape shape(static_cast<int>(plan.axes.size()) - 1);
  for (int i = 0; i < shape.size(); ++i) shape[i] = plan.axes[static_cast<std::size_t>(i)].extent;
  test::for_each_index(shape, [&](const test::Index& index) {
    std::int64_t s = 0, t = 0;
    for (std::size_t i = 0; i < index.size(); ++i) {
      s += index[i] * plan.axes[i].source_stride;
      t += index[i] * plan.axes[i].target_stride;
    }
    const std::int64_t bytes = plan.length * plan.source_unit;
    EXPECT_GE(plan.axes.back().extent * 16, bytes + 15);
    EXPECT_TRUE(plan.source_begin <= s * plan.source_unit &&
                s * plan.source_unit + bytes <= plan.source_end);
    std::memcpy(to + t * plan.target_unit, from + s * plan.source_unit,
                static_cast<std::size_t>(bytes));
  });
}

// What a device would do with the plan, element by element.
void contiguous(const CopyPlan& plan, const Array& source, const Array& target) {
  const auto* from = static_cast<const unsigned char*>(source.data()) + plan.source_offset;
  auto* to = static_cast<unsigned char*>(target.data()) + plan.target_offset;
  if (plan.kind == CopyPlan::Kind::aligned_chunks) return run_aligned_chunks(plan, from, to);
  Shape shape(static_cast<int>(plan.axes.size()));
  for (int i = 0; i < shape.size(); ++i) shape[i] = plan.axes[static_cast<std::size_t>(i)].extent;
  test::for_each_index(shape, [&](const test::Index& index) {
    std::int64_t s = 0, t = 0;
    for (std::size_t i = 0; i < index.size(); ++i) {
      s += index[i] * plan.axes[i].source_stride;
      t += index[i] * plan.axes[i].target_stride;
    }
    for (std::int64_t i = 0; i < plan.elements; ++i)
      std::memcpy(to + (t * plan.elements + i) * plan.target_unit,
                  from + source_element(plan, s, i) * plan.source_unit,
                  static_cast<std::size_t>(plan.target_unit));
  });
}

std::int64_t bytes_for(const Layout& layout, DType dtype) {
  return (layout.extent().second + 1 + layout.offset) * dtype.itemsize() + 64;
}

Layout permuted(const Shape& shape, std::initializer_list<int> axes) {
  return Layout::row_major(shape).permute(std::span(axes.begin(), axes.size()));
}

CopyPlan plan_of(const Layout& source, const Layout& target, DType from = float32,
                 DType to = float32) {
  HostBytes a(bytes_for(source, from)), b(bytes_for(target, to));
  return plan_copy(a.array(source, from), b.array(target, to));
}

TEST(CopyPlan, MovesExactlyTheElementsOfRandomLayouts) {
  Random random(20260419);
  const DType dtypes[] = {uint8,   float16,    int32,
                          float64, complex128, DType(DTypeCode::uint, 24, 1)};
  for (int round = 0; round < 3000; ++round) {
    const DType dtype = dtypes[between(random, 0, 5)];
    const Shape shape = test::random_shape(random, 4, 20);
    const Layout source = test::with_random_strides(random, shape, 40);
    const Layout target = test::with_disjoint_strides(random, shape);
    HostBytes from(bytes_for(source, dtype)), to(bytes_for(target, dtype));
    for (std::size_t i = 0; i < from.size(); ++i)
      from.data()[i] = static_cast<unsigned char>(random());
    std::memset(to.data(), 0xa5, to.size());
    std::vector<unsigned char> expected(to.data(), to.data() + to.size());
    const auto width = static_cast<std::size_t>(dtype.itemsize());
    test::for_each_index(shape, [&](const test::Index& index) {
      std::memcpy(&expected[static_cast<std::size_t>(test::offset_of(target, index)) * width],
                  from.data() + static_cast<std::size_t>(test::offset_of(source, index)) * width,
                  width);
    });
    const Array a = from.array(source, dtype), b = to.array(target, dtype);
    const CopyPlan plan = plan_copy(a, b);
    if (plan.kind != CopyPlan::Kind::nothing) contiguous(plan, a, b);
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), to.data()))
        << dtype << ' ' << source << " -> " << target;
    // Only the axis along which a tile reads may run backwards in the target.
    for (std::size_t i = 0; i < plan.axes.size(); ++i)
      ASSERT_TRUE(plan.axes[i].target_stride >= 0 ||
                  (plan.kind != CopyPlan::Kind::strided && i + 2 == plan.axes.size()));
  }
}

TEST(CopyPlan, ContiguousArraysAreOneBlockInAnyCommonOrderOfAxes) {
  const Shape shape{4, 5, 6};
  EXPECT_EQ(plan_of(Layout::row_major(shape), Layout::row_major(shape)).kind,
            CopyPlan::Kind::block);
  EXPECT_EQ(plan_of(Layout::column_major(shape), Layout::column_major(shape)).kind,
            CopyPlan::Kind::block);
  const CopyPlan permuted_alike =
      plan_of(permuted({6, 4, 5}, {1, 2, 0}), permuted({6, 4, 5}, {1, 2, 0}));
  EXPECT_EQ(permuted_alike.kind, CopyPlan::Kind::block);
  EXPECT_EQ(permuted_alike.size() * permuted_alike.source_unit, 4 * 5 * 6 * 4);
}

TEST(CopyPlan, AnArrayThatRunsBackwardsOnBothSidesIsOneBlock) {
  const Layout reversed = Layout::row_major({60}).slice(0, {.step = -1});
  const CopyPlan plan = plan_of(reversed, reversed);
  EXPECT_EQ(plan.kind, CopyPlan::Kind::block);
  EXPECT_EQ(plan.source_offset, -59 * 4);
}

TEST(CopyPlan, WordsAreAsWideAsBothSidesAllow) {
  // Rows of 8 floats out of 12: runs of 32 bytes, pitches of 48 and 32.
  const Layout rows = Layout::row_major({10, 12}).slice(1, {.start = 0, .stop = 8});
  EXPECT_EQ(plan_of(rows, Layout::row_major({10, 8})).source_unit, 16);
  // One float further on only 4 bytes are aligned.
  const Layout shifted = Layout::row_major({10, 12}).slice(1, {.start = 1, .stop = 9});
  EXPECT_EQ(plan_of(shifted, Layout::row_major({10, 8})).source_unit, 4);
  // Pairs of floats, every second pair.
  const Layout pairs = Layout::row_major({10, 4}).slice(1, {.stop = 2});
  EXPECT_EQ(plan_of(pairs, Layout::row_major({10, 2})).source_unit, 8);
}

TEST(CopyPlan, TransposesAreTiledWithTheSourcesAxisFirst) {
  const CopyPlan plan = plan_of(permuted({100, 70}, {1, 0}), Layout::row_major({70, 100}));
  ASSERT_EQ(plan.kind, CopyPlan::Kind::packed);
  ASSERT_EQ(plan.axes.size(), 2u);
  EXPECT_EQ(plan.axes[0].source_stride, 1);
  EXPECT_EQ(plan.axes[0].extent, 70);
  EXPECT_EQ(plan.axes[1].target_stride, 1);
  EXPECT_EQ(plan.axes[1].extent, 100);
  const CopyPlan batched =
      plan_of(permuted({3, 100, 70}, {0, 2, 1}), Layout::row_major({3, 70, 100}));
  ASSERT_EQ(batched.kind, CopyPlan::Kind::packed);
  EXPECT_EQ(batched.axes.front().extent, 3);
  const CopyPlan thin = plan_of(permuted({1000, 3}, {1, 0}), Layout::row_major({3, 1000}));
  ASSERT_EQ(thin.kind, CopyPlan::Kind::thin) << "three are too few to fill a tile";
  EXPECT_TRUE(thin.dense_source);
  EXPECT_EQ(thin.axes[0].extent, 3);
  const CopyPlan back = plan_of(permuted({3, 1000}, {1, 0}), Layout::row_major({1000, 3}));
  ASSERT_EQ(back.kind, CopyPlan::Kind::thin);
  EXPECT_FALSE(back.dense_source);
  EXPECT_EQ(back.axes[0].extent, 3) << "the short axis, along which the target runs";
  EXPECT_TRUE(back.source_vectors);
}

TEST(CopyPlan, SmallMatricesInARowAreCells) {
  const CopyPlan plan = plan_of(permuted({1000, 4, 5}, {0, 2, 1}), Layout::row_major({1000, 5, 4}));
  ASSERT_EQ(plan.kind, CopyPlan::Kind::small_arrays);
  EXPECT_EQ(plan.inner, 2);
  EXPECT_EQ(plan.chunk % 16, 0);
  EXPECT_TRUE(plan.source_vectors);
  const CopyPlan few = plan_of(permuted({3, 4, 5}, {0, 2, 1}), Layout::row_major({3, 5, 4}));
  EXPECT_EQ(few.kind, CopyPlan::Kind::strided) << "not worth a pass through shared memory";
}

TEST(CopyPlan, UnalignedBytesAreCopiedInAlignedChunks) {
  const Layout rows = Layout::row_major({9, 101}).slice(1, {.start = 1});
  const CopyPlan plan = plan_of(rows, Layout::row_major({9, 100}), uint8, uint8);
  ASSERT_EQ(plan.kind, CopyPlan::Kind::aligned_chunks);
  EXPECT_EQ(plan.length, 100);
  EXPECT_EQ(plan.source_begin, 0);
  EXPECT_EQ(plan.source_end, 8 * 101 + 100);
  const CopyPlan aligned = plan_of(Layout::row_major({9, 104}).slice(1, {.stop = 100}),
                                   Layout::row_major({9, 100}), uint8, uint8);
  EXPECT_EQ(aligned.kind, CopyPlan::Kind::strided) << "words of four bytes do";
}

TEST(CopyPlan, CastsAreNeverMergedIntoABlockCopy) {
  const CopyPlan plan = plan_of(Layout::row_major({64}), Layout::row_major({64}), float32, float64);
  EXPECT_EQ(plan.kind, CopyPlan::Kind::strided);
  EXPECT_EQ(plan.source_unit, 4);
  EXPECT_EQ(plan.target_unit, 8);
  EXPECT_EQ(plan.elements, 2) << "16 bytes of the wider side at once";
  EXPECT_EQ(plan.size() * plan.elements, 64);
}

TEST(CopyPlan, TransposesThatCastAreTiledElementByElement) {
  const Layout source = permuted({200, 300}, {1, 0}), target = Layout::row_major({300, 200});
  EXPECT_EQ(plan_of(source, target, int32, float32).kind, CopyPlan::Kind::tiled);
  EXPECT_EQ(plan_of(source, target, bool_, uint8).kind, CopyPlan::Kind::tiled);
}

TEST(CopyPlan, WritesSixteenBytesForAnySourceAlignment) {
  const CopyPlan column =
      plan_of(Layout::row_major({64, 1}).broadcast_to({64, 32}), Layout::row_major({64, 32}));
  EXPECT_EQ(column.elements, 4);
  EXPECT_EQ(column.pattern, CopyPlan::AccessPattern::strided);
  EXPECT_EQ(column.step, 0);
  const CopyPlan every_other =
      plan_of(Layout::row_major({128}).slice(0, {.step = 2}), Layout::row_major({64}));
  EXPECT_EQ(every_other.elements, 4);
  EXPECT_EQ(every_other.step, 2);
  const CopyPlan backwards =
      plan_of(Layout::row_major({64}).slice(0, {.step = -1}), Layout::row_major({64}));
  EXPECT_EQ(backwards.elements, 4);
  EXPECT_EQ(backwards.pattern, CopyPlan::AccessPattern::reversed);
  EXPECT_EQ(backwards.group, 4);
  const CopyPlan swapped = plan_of(Layout::row_major({64, 4}).slice(1, {.step = -1}),
                                   Layout::row_major({64, 4}), uint8, uint8);
  EXPECT_EQ(swapped.elements, 16);
  EXPECT_EQ(swapped.pattern, CopyPlan::AccessPattern::reversed);
  EXPECT_EQ(swapped.group, 4);
}

TEST(CopyPlan, LargeOffsetsTakeTheWideIndex) {
  // Plans read only addresses, so the memory need not exist.
  const auto pretend = [](Layout layout) {
    const auto bytes = static_cast<std::size_t>(layout.extent().second + 1) * 4;
    return Array(Storage::adopt(reinterpret_cast<void*>(std::uintptr_t{1} << 20), bytes, cpu,
                                nullptr, nullptr),
                 std::move(layout), float32);
  };
  const std::int64_t step = std::int64_t{1} << 31;
  const Layout few_far_apart{{3, 2}, {step, 7}, 0};
  EXPECT_TRUE(plan_copy(pretend(few_far_apart), pretend(Layout::row_major({3, 2}))).wide);
  EXPECT_TRUE(plan_copy(pretend(Layout::row_major({3, 2})), pretend(few_far_apart)).wide);
  const Layout near{{3, 2}, {step >> 8, 7}, 0};
  EXPECT_FALSE(plan_copy(pretend(near), pretend(Layout::row_major({3, 2}))).wide);
}

TEST(CopyPlan, HandlesEmptyAndSingleElementArrays) {
  EXPECT_EQ(plan_of(Layout::row_major({0, 3}), Layout::row_major({0, 3})).kind,
            CopyPlan::Kind::nothing);
  const CopyPlan one = plan_of(Layout::row_major({}), Layout::row_major({}));
  EXPECT_EQ(one.kind, CopyPlan::Kind::block);
  EXPECT_EQ(one.size() * one.target_unit, 4);
}

TEST(FillPlan, DropsBroadcastAxes) {
  HostBytes bytes(4096);
  const Array stretched = bytes.array(Layout::row_major({5}).broadcast_to({7, 5}), float32);
  const CopyPlan plan = plan_fill(stretched);
  EXPECT_EQ(plan.kind, CopyPlan::Kind::block);
  EXPECT_EQ(plan.size(), 5);
  const Array column = bytes.array(Layout::row_major({6, 4}).index(1, 2), float64);
  EXPECT_EQ(plan_fill(column).kind, CopyPlan::Kind::strided);
}

}  // namespace
}  // namespace spanwise::cuda
