// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "spanwise/core/error.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/stream.hpp"
#include "support/fake_devices.hpp"

namespace spanwise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

constexpr std::int64_t kilobyte = 1024;

/// Memory of aligned_alloc(). `live` is the number of blocks that were not returned.
class CountingSource final : public MemorySource {
 public:
  std::string name() const override { return "counting"; }
  Block allocate(Device, std::size_t bytes, std::uintptr_t) override {
    if (is_exhausted) fail<OutOfMemoryError>("counting: none left");
    ++live;
    return {std::aligned_alloc(256, (bytes + 255) / 256 * 256), this};
  }
  void deallocate(Device, const Block& block, std::size_t) noexcept override {
    EXPECT_EQ(block.owner, this);
    --live;
    std::free(block.data);
  }

  int live = 0;
  bool is_exhausted = false;
};

class MemoryTest : public test::RuntimeTest {
 protected:
  ~MemoryTest() override {
    use_memory_source(test::gpu, nullptr);
    limit_memory(test::gpu, std::nullopt);
  }

  std::int64_t used() { return memory_stats(test::gpu).used; }
  std::int64_t before_ = memory_stats(test::gpu).used;
};

TEST_F(MemoryTest, CountsCurrentAndPeakBytes) {
  reset_peak_memory(test::gpu);
  const std::int64_t allocations = memory_stats(test::gpu).allocations;
  {
    const Array first = empty({kilobyte}, float32, test::gpu);
    EXPECT_EQ(used() - before_, 4 * kilobyte);
    const Array view = first.index(0, 3);
    EXPECT_EQ(used() - before_, 4 * kilobyte);
    const Array second = empty({kilobyte}, float64, test::gpu);
    EXPECT_EQ(used() - before_, 12 * kilobyte);
  }
  const MemoryStats after = memory_stats(test::gpu);
  EXPECT_EQ(after.used, before_);
  EXPECT_EQ(after.peak - before_, 12 * kilobyte);
  EXPECT_EQ(after.allocations - allocations, 2);
  EXPECT_EQ(after.source, "pool");
  EXPECT_FALSE(after.limit);
  reset_peak_memory(test::gpu);
  EXPECT_EQ(memory_stats(test::gpu).peak, before_);
}

TEST_F(MemoryTest, IsCountedForEachDevice) {
  const Array array = empty({kilobyte}, float32, test::second_gpu);
  EXPECT_EQ(used(), before_);
  EXPECT_GE(memory_stats(test::second_gpu).used, 4 * kilobyte);
}

TEST_F(MemoryTest, CachedHostBlocksAreNotCountedAsInUse) {
  const std::int64_t before = memory_stats(cpu).used;
  for (int i = 0; i < 4; ++i) static_cast<void>(empty({16}, float32, cpu));
  EXPECT_EQ(memory_stats(cpu).used, before);
}

TEST_F(MemoryTest, FailedAllocationIsNotCounted) {
  gpus().exhaust_memory();
  EXPECT_THROW(allocate(1 << 20, test::gpu), OutOfMemoryError);
  EXPECT_EQ(used(), before_);
}

TEST_F(MemoryTest, AllocationAboveTheLimitIsRefused) {
  limit_memory(test::gpu, before_ + 4 * kilobyte);
  const Array first = empty({kilobyte}, float32, test::gpu);
  gpus().take_log();
  EXPECT_THAT([] { allocate(1, test::gpu); },
              ThrowsMessage<OutOfMemoryError>(HasSubstr("and may hold 4.0")));
  EXPECT_THAT(gpus().take_log(), IsEmpty());
  EXPECT_EQ(used() - before_, 4 * kilobyte);
  limit_memory(test::gpu, std::nullopt);
  EXPECT_EQ(allocate(1, test::gpu).bytes(), 1U);
  EXPECT_THROW(limit_memory(test::gpu, -1), ArgumentError);
}

TEST_F(MemoryTest, BlockOfAMemorySourceIsReturnedAfterAllWork) {
  const auto source = std::make_shared<CountingSource>();
  EXPECT_EQ(use_memory_source(test::gpu, source), nullptr);
  {
    const Array array = empty({4}, float32, test::gpu);
    EXPECT_EQ(source->live, 1);
    EXPECT_EQ(used() - before_, 16);
    EXPECT_EQ(memory_stats(test::gpu).source, "counting");
    order_use(Stream::create(test::gpu), array, true);
    // The block is returned to its source, although the pool is in use again.
    EXPECT_EQ(use_memory_source(test::gpu, nullptr), source);
    gpus().take_log();
  }
  EXPECT_EQ(source->live, 0);
  EXPECT_EQ(used(), before_);
  EXPECT_THAT(gpus().take_log(), ElementsAre("record s1 e2", "wait d0 e2"));
}

TEST_F(MemoryTest, FailedAllocationOfAMemorySourceIsNotCounted) {
  const auto source = std::make_shared<CountingSource>();
  source->is_exhausted = true;
  use_memory_source(test::gpu, source);
  EXPECT_THROW(allocate(16, test::gpu), OutOfMemoryError);
  EXPECT_EQ(used(), before_);
}

TEST_F(MemoryTest, SmallHostArraysUseTheMemorySource) {
  const auto source = std::make_shared<CountingSource>();
  static_cast<void>(empty({4}, float32, cpu));  // its block is cached
  use_memory_source(cpu, source);
  {
    const Array array = zeros({4}, float32, cpu);
    EXPECT_EQ(source->live, 1);
  }
  EXPECT_EQ(source->live, 0);
  use_memory_source(cpu, nullptr);
}

TEST_F(MemoryTest, IsCountedCorrectlyInManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int round = 0; round < 200; ++round)
        static_cast<void>(empty({kilobyte}, float32, test::gpu));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(used(), before_);
}

TEST_F(MemoryTest, OfAbsentDevicesIsRefused) {
  EXPECT_THROW(memory_stats(Device(DeviceKind::cuda, 7)), DeviceError);
  EXPECT_THROW(use_memory_source(Device(DeviceKind::cuda, 7), nullptr), DeviceError);
}

}  // namespace
}  // namespace spanwise
