// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/creation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "runtime/copy_steps.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/copy.hpp"
#include "support/fake_devices.hpp"
#include "support/naive_loops.hpp"

namespace spanwise {
namespace {

using ::testing::Each;
using Complex = std::complex<double>;

class CreationTest : public test::RuntimeTest {};

TEST_F(CreationTest, EmptyHasTheShapeInCOrder) {
  const Array array = empty({2, 3}, int16, test::gpu);
  EXPECT_EQ(array.strides(), (Strides{3, 1}));
  EXPECT_EQ(array.dtype(), int16);
  EXPECT_EQ(array.device(), test::gpu);
  EXPECT_EQ(array.storage().bytes(), 12U);
}

TEST_F(CreationTest, UsesTheDefaultDevice) {
  EXPECT_EQ(empty({2}, float32).device(), test::gpu);
  const DeviceGuard guard(cpu);
  EXPECT_EQ(zeros({2}, float32).device(), cpu);
}

TEST_F(CreationTest, SupportsArraysWithoutElementsAndWithoutAxes) {
  for (const Device device : {cpu, test::gpu}) {
    const Array empty_array = zeros({3, 0}, float32, device);
    EXPECT_EQ(empty_array.device(), device);
    EXPECT_EQ(empty_array.size(), 0);
    EXPECT_EQ(empty_array.data(), nullptr);
    const Array scalar = full({}, 2.5, float32, device);
    EXPECT_EQ(scalar.rank(), 0);
    EXPECT_EQ(item(scalar).as_double(), 2.5);
  }
}

TEST_F(CreationTest, ZerosAreZeroInEveryDtype) {
  for (const Device device : {cpu, test::gpu})
    for (const char* name : {"bool", "int8", "uint64", "float16", "bfloat16", "complex128",
                             "float8_e4m3fn", "float32x3"}) {
      const Array zero = to_device(zeros({3, 2}, DType::parse(name), device), cpu);
      const auto* bytes = static_cast<const std::byte*>(zero.data());
      for (std::int64_t i = 0; i < zero.nbytes(); ++i) ASSERT_EQ(bytes[i], std::byte{0}) << name;
    }
}

TEST_F(CreationTest, ZerosUsesZeroedMemoryOfTheBackEnd) {
  static const runtime::ElementLoops without_fill{
      nullptr, [](const Array&, const Scalar&, runtime::StreamState&) {
        ADD_FAILURE() << "zeros() calls fill()";
      }};
  runtime::register_element_loops(DeviceKind::cpu, &without_fill);
  devices_.host().offer_zeros();
  // 128 KiB: the zeros of small arrays are written by memset().
  EXPECT_THAT(test::values(zeros({1 << 15}, float32, cpu)), Each(Complex(0)));
}

TEST_F(CreationTest, FullCastsTheValue) {
  EXPECT_THAT(test::values(full({2}, 3.9, int32, cpu)), Each(Complex(3)));
  EXPECT_THAT(test::values(to_device(full({2}, Complex(1, 2), complex64, test::gpu), cpu)),
              Each(Complex(1, 2)));
  EXPECT_THROW(full({2}, 1.0, DType::parse("float8_e5m2"), cpu), DTypeError);
}

TEST_F(CreationTest, InvalidShapesAreRefused) {
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_THROW(empty({-1}, float32, cpu), LayoutError);
  EXPECT_THROW(empty({huge}, float32, cpu), LayoutError) << "too many bytes";
  EXPECT_THROW(empty({huge, huge}, int8, cpu), LayoutError);
  EXPECT_THROW(zeros({huge}, float64, test::gpu), LayoutError);
}

TEST_F(CreationTest, EmptyLikeKeepsTheOrderOfTheStrides) {
  const Array base = empty({2, 3, 4}, float32, test::gpu);
  EXPECT_EQ(empty_like(base).strides(), (Strides{12, 4, 1}));
  EXPECT_EQ(empty_like(base.transpose()).strides(), (Strides{1, 4, 12}));
  const int axes[] = {1, 0, 2};
  EXPECT_EQ(empty_like(base.permute(axes)).strides(), (Strides{4, 12, 1}));
  EXPECT_EQ(empty_like(base.slice(2, {0, 4, 2})).strides(), (Strides{6, 2, 1}));
  EXPECT_EQ(empty_like(base.transpose().slice(1, {{}, {}, -1})).strides(), (Strides{1, 4, 12}));
  EXPECT_EQ(empty_like(base.transpose()).device(), test::gpu);
}

TEST_F(CreationTest, EmptyLikeOfHostAddressableMemoryIsOnTheCpu) {
  float memory[2];
  const Array pinned(Storage::adopt(memory, 8, Device(DeviceKind::cuda_host), nullptr, nullptr),
                     Layout::row_major({2}), float32);
  EXPECT_EQ(empty_like(pinned).device(), cpu);
}

TEST(Dense, IsALayoutWithoutGapsAndPackedKeepsItsOrder) {
  test::Random random(1);
  int dense_count = 0;
  for (int round = 0; round < 5000; ++round) {
    const Shape shape = test::random_shape(random, 4, 4);
    const Layout layout = test::with_disjoint_strides(random, shape);
    auto all = test::offsets(layout);
    std::sort(all.begin(), all.end());
    bool is_gapless = true;
    for (std::size_t i = 1; i < all.size(); ++i)
      is_gapless = is_gapless && all[i] == all[i - 1] + 1;
    ASSERT_EQ(runtime::is_dense(layout), is_gapless) << layout;
    dense_count += is_gapless && layout.size() > 1;

    const Layout packed = layout.packed(layout.shape);
    EXPECT_EQ(packed.shape, shape);
    EXPECT_TRUE(runtime::is_dense(packed)) << packed;
    EXPECT_EQ(packed.offset, 0);
    for (int a = 0; a < shape.size(); ++a)
      for (int b = 0; b < shape.size(); ++b)
        if (shape[a] > 1 && shape[b] > 1 && layout.size() > 0 &&
            std::abs(layout.strides[a]) < std::abs(layout.strides[b])) {
          EXPECT_LT(packed.strides[a], packed.strides[b]) << layout << " gave " << packed;
        }
  }
  EXPECT_GT(dense_count, 500);
}

TEST(Dense, ExcludesOverlappingElements) {
  EXPECT_FALSE(runtime::is_dense({Shape{2, 2}, Strides{0, 1}, 0}));
  EXPECT_FALSE(runtime::is_dense({Shape{2, 2}, Strides{1, 1}, 0}));
  EXPECT_FALSE(runtime::is_dense({Shape{2, 2, 2}, Strides{1, 1, 5}, 0}))
      << "of the eight offsets from 0 to 7, two belong to two elements and two to none";
}

}  // namespace
}  // namespace spanwise
