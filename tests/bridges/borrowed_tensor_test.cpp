// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "bridges/release_counter.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/stream.hpp"
#include "support/fake_devices.hpp"

/// share(BorrowedTensor), the fast path of most imports: it returns what share(ForeignView)
/// returns, or nothing.
namespace spanwise {
namespace {

using test::gpu;
using test::ReleaseCounter;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Described {
  std::vector<std::int64_t> shape, strides;

  BorrowedTensor open(void* data, DType dtype, bool in_elements) const {
    BorrowedTensor memory;
    memory.data = data;
    memory.dtype = dtype;
    memory.rank = static_cast<int>(shape.size());
    memory.shape = shape.data();
    memory.strides = strides.data();
    memory.in_elements = in_elements;
    return memory;
  }
  // Strides of C order.
  void pack(DType dtype) {
    std::int64_t step = dtype.itemsize();
    for (std::size_t axis = shape.size(); axis-- > 0; step *= shape[axis]) strides[axis] = step;
  }
  ForeignView view(void* data, DType dtype) const {
    ForeignView view;
    view.memory.data = data;
    view.memory.dtype = dtype;
    view.memory.shape = Shape(std::span(shape));
    view.memory.byte_strides = Strides(std::span(strides));
    return view;
  }
};

void expect_same(const Array& one, const Array& other) {
  EXPECT_EQ(one.data(), other.data());
  EXPECT_EQ(one.layout(), other.layout());
  EXPECT_EQ(one.storage().data(), other.storage().data());
  EXPECT_EQ(one.storage().bytes(), other.storage().bytes());
  EXPECT_EQ(one.dtype(), other.dtype());
}

TEST(BorrowedTensor, IsSharedLikeAView) {
  alignas(64) static std::byte bytes[1 << 16];
  std::mt19937 random(7);
  const auto drawn = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const std::vector<DType> dtypes{uint8, float16, float32, complex64, complex128};
  int shared = 0;
  for (int round = 0; round < 20000; ++round) {
    const DType dtype = dtypes[static_cast<std::size_t>(drawn(0, 4))];
    Described given;
    for (int axis = drawn(0, 4); axis > 0; --axis) {
      given.shape.push_back(drawn(0, 4));
      const bool fits = drawn(0, 9) != 0;
      given.strides.push_back(fits ? drawn(-9, 9) * dtype.itemsize() : drawn(-99, 99));
    }
    if (drawn(0, 2) == 0) given.pack(dtype);
    void* data = bytes + (1 << 15) + (drawn(0, 9) != 0 ? dtype.itemsize() * drawn(-9, 9) : 1);
    ReleaseCounter counter;
    const auto quick = share(given.open(data, dtype, false), counter.owner());
    EXPECT_EQ(counter.releases, quick ? 0 : 1);
    ForeignView view = given.view(data, dtype);
    const auto thorough = share(view);
    if (!quick) continue;
    ++shared;
    ASSERT_TRUE(thorough.has_value());
    expect_same(*quick, *thorough);
  }
  EXPECT_GT(shared, 5000);
}

TEST(BorrowedTensor, StridesMayCountElements) {
  std::vector<float> values(24);
  const Described given{{2, 3, 4}, {12, 4, 1}};
  const Array array = share(given.open(values.data(), float32, true), ForeignOwner()).value();
  EXPECT_EQ(array.layout(), Layout::row_major({2, 3, 4}));
  const Described one{{1, 4}, {INT64_MAX, -2}};
  const Array window = share(one.open(&values[6], float32, true), ForeignOwner()).value();
  EXPECT_EQ(window.layout(), (Layout{{1, 4}, {1, -2}, 6}));
  EXPECT_EQ(window.data(), &values[6]);
}

TEST(BorrowedTensor, GpuRequiresAlignedComplexNumbers) {
  alignas(16) double values[5] = {};
  const Described given{{2}, {1}};
  BorrowedTensor memory = given.open(&values[1], complex128, true);
  EXPECT_TRUE(share(memory, ForeignOwner()).has_value());
  memory.device = gpu;
  memory.stream = 7;
  EXPECT_FALSE(share(memory, ForeignOwner()).has_value());
  ForeignView view;
  view.memory.data = &values[1];
  view.memory.device = gpu;
  view.memory.dtype = complex128;
  view.memory.shape = Shape{2};
  view.memory.row_major = true;
  ASSERT_TRUE(find_share_blocker(view.memory).has_value());
  EXPECT_NE(find_share_blocker(view.memory)->reason.find("no multiple of the 16 bytes"),
            std::string::npos);
  view.memory.device = cpu;
  EXPECT_FALSE(find_share_blocker(view.memory).has_value());
}

TEST(BorrowedTensor, NonTrivialTensorsFallBackToAView) {
  alignas(16) float values[4];
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  const std::vector<Described> wrong{{{0}, {4}},          {{-1}, {4}},
                                     {{huge, 4}, {4, 4}}, {{2, 2}, {huge, huge}},
                                     {{3}, {huge}},       {{huge, huge}, {0, 0}},
                                     {{2}, {INT64_MIN}},  {{2}, {6}},
                                     {{huge}, {4}},       {{huge, 2}, {8, 4}},
                                     {{4, huge}, {0, 4}}, {{2, huge, 1}, {0, 4, 4}}};
  ReleaseCounter counter;
  for (const Described& given : wrong)
    EXPECT_FALSE(share(given.open(values, float32, false), counter.owner()).has_value());
  const Described fine{{2}, {4}};
  EXPECT_FALSE(share(fine.open(nullptr, float32, false), counter.owner()).has_value());
  auto* odd = reinterpret_cast<std::byte*>(values) + 1;
  EXPECT_FALSE(share(fine.open(odd, float32, false), counter.owner()).has_value());
  const Described wide{{1}, {16}};
  const DType lanes(DTypeCode::float_, 32, 4);
  EXPECT_FALSE(share(wide.open(values, lanes, false), counter.owner()).has_value());
  BorrowedTensor deep = fine.open(values, float32, false);
  deep.rank = max_rank + 1;
  EXPECT_FALSE(share(deep, counter.owner()).has_value());
  EXPECT_EQ(counter.releases, static_cast<int>(wrong.size()) + 4);
}

class MadeInPlace : public ::testing::Test {
 protected:
  // Where an array is made, if it is; the caller destroys it.
  Array* slot() noexcept { return reinterpret_cast<Array*>(room_); }

  alignas(Array) std::byte room_[sizeof(Array)];
  float values_[4] = {};
  ReleaseCounter first_, second_;
};

TEST_F(MadeInPlace, ReusesTheStorageOfAnEarlierArray) {
  const Described given{{4}, {4}};
  ASSERT_TRUE(share_at(slot(), given.open(values_, float32, false), first_.owner()));
  const ReleaseFn release = slot()->storage().release_fn();
  EXPECT_EQ(slot()->reclaim(release), &first_);
  Storage spare = slot()->take_storage();
  slot()->~Array();

  const Described shorter{{2}, {-4}};
  BorrowedTensor memory = shorter.open(values_ + 1, float32, false);
  memory.readonly = true;
  ASSERT_TRUE(share_at(slot(), memory, second_.owner(), std::move(spare)));
  EXPECT_FALSE(spare);
  EXPECT_EQ(slot()->data(), values_ + 1);
  EXPECT_EQ(slot()->storage().data(), values_);
  EXPECT_EQ(slot()->storage().bytes(), 8U);
  EXPECT_TRUE(slot()->readonly());
  EXPECT_EQ(slot()->storage().context(), &second_);
  slot()->~Array();
  EXPECT_EQ(first_.releases, 0) << "the caller of reclaim releases the owner";
  EXPECT_EQ(second_.releases, 1);
}

TEST_F(MadeInPlace, RefusedTensorIsReleasedAndTheStorageUntouched) {
  const Described given{{4}, {4}}, wrong{{0}, {4}};
  ASSERT_TRUE(share_at(slot(), given.open(values_, float32, false), first_.owner()));
  EXPECT_EQ(slot()->reclaim(slot()->storage().release_fn()), &first_);
  Storage spare = slot()->take_storage();
  slot()->~Array();
  EXPECT_FALSE(
      share_at(slot(), wrong.open(values_, float32, false), second_.owner(), std::move(spare)));
  EXPECT_EQ(second_.releases, 1);
  EXPECT_TRUE(spare);
}

class OpenGpuMemory : public test::RuntimeTest {
 protected:
  BorrowedTensor open(std::uintptr_t stream) const {
    BorrowedTensor memory = given_.open(held_.data(), float32, false);
    memory.device = gpu;
    memory.stream = stream;
    return memory;
  }

  Described given_{{4}, {4}};
  Array held_ = empty(Shape{4}, float32, gpu);
};

TEST_F(OpenGpuMemory, WaitsAtTheFirstUseAndProducerWaitsAtTheRelease) {
  gpus().synchronize(gpu.ordinal());
  ReleaseCounter counter;
  {
    gpus().take_log();
    const Array array = share(open(7), counter.owner()).value();
    EXPECT_THAT(gpus().take_log(), IsEmpty());
    order_use(Stream::create(gpu), array, true);
    EXPECT_THAT(gpus().take_log(), ElementsAre("record f7 e1", "wait s1 e1"));
  }
  EXPECT_THAT(gpus().take_log(), ElementsAre("record s1 e2", "wait f7 e2"));
  EXPECT_EQ(counter.releases, 1);
}

TEST_F(OpenGpuMemory, ExchangeWithoutWorkMakesNoDriverCall) {
  gpus().synchronize(gpu.ordinal());
  ReleaseCounter counter;
  gpus().take_log();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(share(open(7), counter.owner()).has_value());
  EXPECT_THAT(gpus().take_log(), IsEmpty());
  EXPECT_EQ(counter.releases, 3);
}

}  // namespace
}  // namespace spanwise
