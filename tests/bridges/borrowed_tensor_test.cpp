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
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/stream.hpp"
#include "support/fake_devices.hpp"

/// share(BorrowedTensor), the fast path of most imports: it returns what share(ForeignView)
/// returns, or nothing.
namespace spanwise {
namespace {

using test::gpu;
using test::ReleaseCounter;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A shape and strides, as the two ways of import take them.
struct Description {
  std::vector<std::int64_t> shape, strides;

  BorrowedTensor borrowed(void* data, DType dtype, bool in_elements) const {
    BorrowedTensor memory;
    memory.data = data;
    memory.dtype = dtype;
    memory.rank = static_cast<int>(shape.size());
    memory.shape = shape.data();
    memory.strides = strides.data();
    memory.in_elements = in_elements;
    return memory;
  }
  // Sets the byte strides of C order.
  void set_c_order(DType dtype) {
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

void expect_same(const Array& actual, const Array& expected) {
  EXPECT_EQ(actual.data(), expected.data());
  EXPECT_EQ(actual.layout(), expected.layout());
  EXPECT_EQ(actual.storage().data(), expected.storage().data());
  EXPECT_EQ(actual.storage().bytes(), expected.storage().bytes());
  EXPECT_EQ(actual.dtype(), expected.dtype());
}

TEST(BorrowedTensor, IsSharedLikeAView) {
  alignas(64) static std::byte bytes[1 << 16];
  std::mt19937 random(7);
  const auto random_int = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const std::vector<DType> dtypes{uint8, float16, float32, complex64, complex128};
  int shared = 0;
  for (int round = 0; round < 20000; ++round) {
    const DType dtype = dtypes[static_cast<std::size_t>(random_int(0, 4))];
    Description description;
    for (int axis = random_int(0, 4); axis > 0; --axis) {
      description.shape.push_back(random_int(0, 4));
      const bool is_multiple = random_int(0, 9) != 0;
      description.strides.push_back(is_multiple ? random_int(-9, 9) * dtype.itemsize()
                                                : random_int(-99, 99));
    }
    if (random_int(0, 2) == 0) description.set_c_order(dtype);
    void* data =
        bytes + (1 << 15) + (random_int(0, 9) != 0 ? dtype.itemsize() * random_int(-9, 9) : 1);
    ReleaseCounter counter;
    const auto borrowed = share(description.borrowed(data, dtype, false), counter.owner());
    EXPECT_EQ(counter.releases, borrowed ? 0 : 1);
    ForeignView view = description.view(data, dtype);
    const auto viewed = share(view);
    if (!borrowed) continue;
    ++shared;
    ASSERT_TRUE(viewed.has_value());
    expect_same(*borrowed, *viewed);
  }
  EXPECT_GT(shared, 5000);
}

TEST(BorrowedTensor, StridesMayCountElements) {
  std::vector<float> values(24);
  const Description whole{{2, 3, 4}, {12, 4, 1}};
  const Array array = share(whole.borrowed(values.data(), float32, true), ForeignOwner()).value();
  EXPECT_EQ(array.layout(), Layout::row_major({2, 3, 4}));
  const Description one_row{{1, 4}, {INT64_MAX, -2}};
  const Array window = share(one_row.borrowed(&values[6], float32, true), ForeignOwner()).value();
  EXPECT_EQ(window.layout(), (Layout{{1, 4}, {1, -2}, 6}));
  EXPECT_EQ(window.data(), &values[6]);
}

TEST(BorrowedTensor, GpuRequiresAlignedComplexNumbers) {
  alignas(16) double values[5] = {};
  const Description description{{2}, {1}};
  BorrowedTensor memory = description.borrowed(&values[1], complex128, true);
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
  const std::vector<Description> wrong{{{0}, {4}},          {{-1}, {4}},
                                       {{huge, 4}, {4, 4}}, {{2, 2}, {huge, huge}},
                                       {{3}, {huge}},       {{huge, huge}, {0, 0}},
                                       {{2}, {INT64_MIN}},  {{2}, {6}},
                                       {{huge}, {4}},       {{huge, 2}, {8, 4}},
                                       {{4, huge}, {0, 4}}, {{2, huge, 1}, {0, 4, 4}}};
  ReleaseCounter counter;
  for (const Description& description : wrong)
    EXPECT_FALSE(share(description.borrowed(values, float32, false), counter.owner()).has_value());
  const Description fine{{2}, {4}};
  EXPECT_FALSE(share(fine.borrowed(nullptr, float32, false), counter.owner()).has_value());
  auto* odd = reinterpret_cast<std::byte*>(values) + 1;
  EXPECT_FALSE(share(fine.borrowed(odd, float32, false), counter.owner()).has_value());
  const Description wide{{1}, {16}};
  const DType lanes(DTypeCode::float_, 32, 4);
  EXPECT_FALSE(share(wide.borrowed(values, lanes, false), counter.owner()).has_value());
  BorrowedTensor deep = fine.borrowed(values, float32, false);
  deep.rank = max_rank + 1;
  EXPECT_FALSE(share(deep, counter.owner()).has_value());
  EXPECT_EQ(counter.releases, static_cast<int>(wrong.size()) + 4);
}

class ShareAt : public ::testing::Test {
 protected:
  // The address at which share_at() constructs an array, which the test destroys.
  Array* array() noexcept { return reinterpret_cast<Array*>(memory_); }

  alignas(Array) std::byte memory_[sizeof(Array)];
  float values_[4] = {};
  ReleaseCounter first_, second_;
};

TEST_F(ShareAt, ReusesTheStorageOfAnEarlierArray) {
  const Description description{{4}, {4}};
  ASSERT_TRUE(share_at(array(), description.borrowed(values_, float32, false), first_.owner()));
  const ReleaseFn release = array()->storage().release_fn();
  EXPECT_EQ(array()->reclaim(release), &first_);
  Storage spare = array()->take_storage();
  array()->~Array();

  const Description shorter{{2}, {-4}};
  BorrowedTensor memory = shorter.borrowed(values_ + 1, float32, false);
  memory.readonly = true;
  ASSERT_TRUE(share_at(array(), memory, second_.owner(), std::move(spare)));
  EXPECT_FALSE(spare);
  EXPECT_EQ(array()->data(), values_ + 1);
  EXPECT_EQ(array()->storage().data(), values_);
  EXPECT_EQ(array()->storage().bytes(), 8U);
  EXPECT_TRUE(array()->readonly());
  EXPECT_EQ(array()->storage().context(), &second_);
  array()->~Array();
  EXPECT_EQ(first_.releases, 0) << "the caller of reclaim releases the owner";
  EXPECT_EQ(second_.releases, 1);
}

TEST_F(ShareAt, RefusedTensorIsReleasedAndTheStorageUntouched) {
  const Description description{{4}, {4}}, wrong{{0}, {4}};
  ASSERT_TRUE(share_at(array(), description.borrowed(values_, float32, false), first_.owner()));
  EXPECT_EQ(array()->reclaim(array()->storage().release_fn()), &first_);
  Storage spare = array()->take_storage();
  array()->~Array();
  EXPECT_FALSE(share_at(array(), wrong.borrowed(values_, float32, false), second_.owner(),
                        std::move(spare)));
  EXPECT_EQ(second_.releases, 1);
  EXPECT_TRUE(spare);
}

class BorrowedGpuTensor : public test::RuntimeTest {
 protected:
  BorrowedTensor borrowed(std::uintptr_t stream) const {
    BorrowedTensor memory = description_.borrowed(array_.data(), float32, false);
    memory.device = gpu;
    memory.stream = stream;
    return memory;
  }

  Description description_{{4}, {4}};
  Array array_ = empty(Shape{4}, float32, gpu);
};

TEST_F(BorrowedGpuTensor, WaitsAtTheFirstUseAndProducerWaitsAtTheRelease) {
  gpus().synchronize(gpu.ordinal());
  ReleaseCounter counter;
  {
    gpus().take_log();
    const Array array = share(borrowed(7), counter.owner()).value();
    EXPECT_THAT(gpus().take_log(), IsEmpty());
    order_use(Stream::create(gpu), array, true);
    EXPECT_THAT(gpus().take_log(), ElementsAre("record f7 e1", "wait s1 e1"));
  }
  EXPECT_THAT(gpus().take_log(), ElementsAre("record s1 e2", "wait f7 e2"));
  EXPECT_EQ(counter.releases, 1);
}

TEST_F(BorrowedGpuTensor, ExchangeWithoutWorkMakesNoDriverCall) {
  gpus().synchronize(gpu.ordinal());
  ReleaseCounter counter;
  gpus().take_log();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(share(borrowed(7), counter.owner()).has_value());
  EXPECT_THAT(gpus().take_log(), IsEmpty());
  EXPECT_EQ(counter.releases, 3);
}

}  // namespace
}  // namespace spanwise
