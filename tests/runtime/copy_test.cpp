// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/copy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "spanwise/core/error.hpp"
#include "spanwise/runtime/creation.hpp"
#include "support/fake_devices.hpp"
#include "support/message_of.hpp"
#include "support/naive_loops.hpp"

namespace spanwise {
namespace {

using test::between;
using test::Index;
using test::Random;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Complex = std::complex<double>;

const std::vector<DType>& all_dtypes() {
  static const std::vector<DType> dtypes{bool_,    int8,    int16,   int32,     int64,
                                         uint8,    uint16,  uint32,  uint64,    float16,
                                         bfloat16, float32, float64, complex64, complex128};
  return dtypes;
}

// 0, 1, 2, ... on `device`.
Array arange(std::int64_t size, DType dtype, Device device) {
  const Array host = empty({size}, dtype, cpu);
  std::vector<Complex> numbers;
  for (std::int64_t i = 0; i < size; ++i) numbers.emplace_back(static_cast<double>(i));
  test::set_values(host, numbers);
  return to_device(host, device);
}

std::vector<double> reals(const Array& array) {
  std::vector<double> all;
  for (const Complex& value : test::values(to_device(array, cpu))) all.push_back(value.real());
  return all;
}

// A vector of random bytes on `device`, and one of the same bytes on the host.
struct MirroredVector {
  MirroredVector(Random& random, std::int64_t size, DType dtype, Device device)
      : mirror(empty({size}, dtype, cpu)) {
    auto* byte = static_cast<unsigned char*>(mirror.data());
    for (std::int64_t i = 0; i < mirror.nbytes(); ++i)
      byte[i] = static_cast<unsigned char>(random());
    // Bool bytes other than 0 and 1 are read as true, but copied as 1.
    if (dtype == bool_)
      for (std::int64_t i = 0; i < mirror.nbytes(); ++i) byte[i] &= 1;
    array = to_device(mirror, device, CopyMode::always);
  }

  Array mirror, array;
};

// Elements of a vector that holds the layout and at least one unused element behind it.
std::int64_t room_for(const Layout& layout) {
  return layout.offset_range().second + 2 + std::max<std::int64_t>(layout.offset, 0);
}

bool same_bytes(const Array& a, const Array& b) {
  return std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.nbytes())) == 0;
}

// A shape that broadcasts to `shape`.
Shape shrunk(Random& random, Shape shape) {
  for (std::int64_t& extent : shape)
    if (between(random, 0, 3) == 0) extent = 1;
  while (!shape.empty() && between(random, 0, 5) == 0) shape = shape.erased(0);
  return shape;
}

struct Route {
  const char* name;
  Device from, to;
};

class CopyBetween : public ::testing::TestWithParam<std::tuple<Route, test::FakeDevices::Cpu>> {};

// Compares copies between random layouts and dtypes with naive_copy(), which copies one element
// after the other on the host.
TEST_P(CopyBetween, EveryElementArrivesAndNothingElseChanges) {
  const auto& [route, cpu_kind] = GetParam();
  if (cpu_kind == test::FakeDevices::Cpu::registered &&
      runtime::find_backend(DeviceKind::cpu) == nullptr)
    GTEST_SKIP() << "no CPU back end in this build";
  test::FakeDevices devices(cpu_kind);
  Random random(20260601);
  for (int round = 0; round < 1500; ++round) {
    const DType from = all_dtypes()[random() % all_dtypes().size()];
    const DType to =
        between(random, 0, 2) == 0 ? from : all_dtypes()[random() % all_dtypes().size()];
    const Shape shape = test::random_shape(random, 4, 5);
    const Layout target_layout = test::with_disjoint_strides(random, shape);
    const Shape source_shape = shrunk(random, shape);
    const Layout source_layout = between(random, 0, 1) == 0
                                     ? test::with_disjoint_strides(random, source_shape)
                                     : test::with_random_strides(random, source_shape, 7);
    const MirroredVector source(random, room_for(source_layout), from, route.from);
    const MirroredVector target(random, room_for(target_layout), to, route.to);
    copy(source.array.with_layout(source_layout), target.array.with_layout(target_layout));

    test::naive_copy(
        test::UnownedArray(source.mirror.with_layout(source_layout.broadcast_to(shape))),
        test::UnownedArray(target.mirror.with_layout(target_layout)));
    ASSERT_TRUE(same_bytes(to_device(target.array, cpu), target.mirror))
        << from << ' ' << source_layout << " to " << to << ' ' << target_layout;
  }
  EXPECT_EQ(devices.gpus().faults(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    AllRoutes, CopyBetween,
    ::testing::Combine(
        ::testing::Values(Route{"HostToHost", cpu, cpu}, Route{"HostToDevice", cpu, test::gpu},
                          Route{"DeviceToHost", test::gpu, cpu},
                          Route{"DeviceToDevice", test::gpu, test::gpu},
                          Route{"PeerToPeer", test::gpu, test::second_gpu}),
        ::testing::Values(test::FakeDevices::Cpu::naive, test::FakeDevices::Cpu::registered)),
    [](const auto& instance) {
      return std::string(std::get<0>(instance.param).name) +
             (std::get<1>(instance.param) == test::FakeDevices::Cpu::naive ? "Naive" : "Real");
    });

class CopyTest : public test::RuntimeTest {};

TEST_F(CopyTest, IsCorrectWhereSourceAndTargetOverlap) {
  Random random(7);
  for (const Device device : {cpu, test::gpu}) {
    for (int round = 0; round < 1000; ++round) {
      const Shape shape = test::random_shape(random, 3, 5, /*min_extent=*/1);
      const Layout target_layout = test::with_disjoint_strides(random, shape);
      const Layout source_layout = test::with_random_strides(random, shrunk(random, shape), 7);
      const MirroredVector memory(
          random, std::max(room_for(source_layout), room_for(target_layout)), int16, device);
      copy(memory.array.with_layout(source_layout), memory.array.with_layout(target_layout));

      const Array before = copy(memory.mirror);
      test::naive_copy(test::UnownedArray(before.with_layout(source_layout.broadcast_to(shape))),
                       test::UnownedArray(memory.mirror.with_layout(target_layout)));
      ASSERT_TRUE(same_bytes(to_device(memory.array, cpu), memory.mirror))
          << source_layout << " onto " << target_layout;
    }
  }
}

TEST_F(CopyTest, IsCorrectBetweenTwoImportsOfTheSameMemory) {
  std::int32_t memory[6] = {0, 1, 2, 3, 4, 5};
  const auto import = [&] {
    return Array(Storage::adopt(memory, sizeof memory, cpu, nullptr, nullptr),
                 Layout::row_major({6}), int32);
  };
  copy(import().slice(0, {0, 5, 1}), import().slice(0, {1, 6, 1}));
  EXPECT_THAT(memory, ElementsAre(0, 0, 1, 2, 3, 4));
}

TEST_F(CopyTest, OfAnArrayToItselfDoesNothing) {
  const Array array = arange(4, float32, test::gpu);
  gpus().take_log();
  copy(array, array);
  copy(array.slice(0, {{}, {}, -1}), array.slice(0, {{}, {}, -1}));
  EXPECT_THAT(gpus().take_log(), IsEmpty());
}

TEST_F(CopyTest, ReversingInPlaceKeepsEveryElement) {
  for (const Device device : {cpu, test::gpu}) {
    const Array array = arange(5, int32, device);
    copy(array.slice(0, {{}, {}, -1}), array);
    EXPECT_THAT(reals(array), ElementsAre(4, 3, 2, 1, 0));
  }
}

TEST_F(CopyTest, LastWriteWinsInATargetThatOverlapsItself) {
  for (const Device source_device : {cpu, test::gpu})
    for (const Device device : {cpu, test::gpu}) {
      const Array target = arange(5, int32, device);
      copy(arange(6, int32, source_device).with_layout(Layout::row_major({2, 3})),
           target.with_layout({Shape{2, 3}, Strides{0, 1}, 0}));
      EXPECT_THAT(reals(target), ElementsAre(3, 4, 5, 3, 4)) << "along a stride of 0";
      copy(arange(6, int32, source_device).with_layout(Layout::row_major({3, 2})),
           target.with_layout({Shape{3, 2}, Strides{1, 1}, 0}));
      EXPECT_THAT(reals(target), ElementsAre(0, 2, 4, 5, 4)) << "along a diagonal";
    }
}

TEST_F(CopyTest, BroadcastsTheSource) {
  const Array target = zeros({2, 3}, float32, test::gpu);
  copy(arange(3, int64, cpu), target);
  EXPECT_THAT(reals(target), ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THROW(copy(arange(2, int64, cpu), target), LayoutError);
  EXPECT_THROW(copy(target, target.index(0, 0)), LayoutError);
}

TEST_F(CopyTest, ReadOnlyTargetsAreRefusedUntouched) {
  const Array target = arange(3, float32, cpu).as_readonly();
  EXPECT_THROW(copy(zeros({3}, float32, cpu), target), ReadOnlyError);
  EXPECT_THROW(fill(target, 1.0f), ReadOnlyError);
  EXPECT_THROW(copy(Array(), Array().as_readonly()), ReadOnlyError);
  EXPECT_THAT(reals(target), ElementsAre(0, 1, 2));
  EXPECT_NO_THROW(copy(target, zeros({3}, float32, test::gpu)));
}

TEST_F(CopyTest, StorageOnlyDtypesAreCopiedBetweenAllDevices) {
  for (const char* name : {"float8_e4m3fn", "complex32", "opaque64", "float6_e2m3fnx4", "float32x4",
                           "float32x3", "float128"}) {
    const DType dtype = DType::parse(name);
    for (const Device from : {cpu, test::gpu})
      for (const Device to : {cpu, test::gpu, test::second_gpu}) {
        const Array bytes = to_device(arange(6 * dtype.itemsize(), uint8, cpu), from);
        const Array source = Array(bytes.storage(), Layout::row_major({2, 3}), dtype).transpose();
        const Array target = empty({3, 2}, dtype, to);
        copy(source, target);
        const Array back = to_device(target, cpu);
        const auto* byte = static_cast<const unsigned char*>(back.data());
        for (int row = 0; row < 3; ++row)
          for (int column = 0; column < 2; ++column)
            for (int i = 0; i < dtype.itemsize(); ++i)
              ASSERT_EQ(*byte++, (column * 3 + row) * dtype.itemsize() + i) << name;
      }
  }
}

TEST_F(CopyTest, StorageOnlyDtypesAreNotCast) {
  const Array float8 = zeros({2}, DType::parse("float8_e4m3fn"), cpu);
  EXPECT_THROW(copy(float8, zeros({2}, float32, cpu)), DTypeError);
  EXPECT_THROW(copy(zeros({2}, float32, cpu), float8), DTypeError);
  EXPECT_THROW(fill(float8, 1.0), DTypeError);
}

TEST_F(CopyTest, WithoutElementsTouchesNoDevice) {
  const Array target = empty({0, 3}, float32, test::gpu);
  copy(empty({0, 3}, float64, cpu), target);
  copy(empty({1, 3}, float64, cpu), target);
  fill(target, 1.0);
  EXPECT_THAT(gpus().take_log(), IsEmpty());
}

TEST_F(CopyTest, ZeroAxesAreOneElement) {
  const Array target = zeros({}, float32, test::gpu);
  copy(full({}, 7, int32, cpu), target);
  EXPECT_EQ(item(target).as_int64(), 7);
}

TEST(CopyToAnAbsentDevice, GivesTheReason) {
  const test::FakeDevices without_gpus(test::FakeDevices::Cpu::naive, /*gpus=*/0);
  EXPECT_THAT(
      test::message_of<DeviceError>([&] { to_device(zeros({2}, float32, cpu), test::gpu); }),
      ::testing::HasSubstr("no device"));
}

class FillTest : public test::RuntimeTest {};

TEST_F(FillTest, WritesOnlyTheElementsOfTheArray) {
  for (const Device device : {cpu, test::gpu}) {
    const Array vector = arange(6, float32, device);
    fill(vector.slice(0, {{}, {}, -2}), 9);
    EXPECT_THAT(reals(vector), ElementsAre(0, 9, 2, 9, 4, 9));
    fill(vector.with_layout({Shape{2, 2}, Strides{1, 1}, 0}), -1.5);
    EXPECT_THAT(reals(vector), ElementsAre(-1.5, -1.5, -1.5, 9, 4, 9));
    fill(vector.with_layout({Shape{1000, 2}, Strides{0, 2}, 3}), true);
    EXPECT_THAT(reals(vector), ElementsAre(-1.5, -1.5, -1.5, 1, 4, 1));
  }
}

TEST_F(FillTest, CastsTheScalarToTheDtype) {
  const Array array = zeros({2}, uint8, cpu);
  fill(array, 258.7);
  EXPECT_THAT(reals(array), Each(2.0));
}

TEST_F(FillTest, AcceptsScalarsOfStorageOnlyDtypes) {
  const DType wide = DType::parse("float32x3");
  const std::uint8_t bytes[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  for (const Device device : {cpu, test::gpu}) {
    const Array array = zeros({2}, wide, device);
    fill(array, Scalar(wide, bytes));
    const Array back = to_device(array, cpu);
    EXPECT_EQ(std::memcmp(back.data(), bytes, 12), 0);
    EXPECT_EQ(std::memcmp(static_cast<const std::byte*>(back.data()) + 12, bytes, 12), 0);
  }
}

}  // namespace
}  // namespace spanwise
