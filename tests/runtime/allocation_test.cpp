// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/allocation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/storage_free_list.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/stream.hpp"
#include "support/fake_devices.hpp"

namespace spanwise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AllocationTest : public test::RuntimeTest {};

TEST_F(AllocationTest, IsFreedOnTheStreamCurrentAtItsAllocation) {
  const Stream stream = Stream::create(test::second_gpu);
  Storage storage;
  {
    const StreamGuard guard(stream);
    storage = allocate(40, test::second_gpu);
  }
  EXPECT_EQ(storage.bytes(), 40U);
  EXPECT_EQ(storage.device(), test::second_gpu);
  EXPECT_EQ(gpus().live_blocks(), 1);
  storage = Storage{};
  EXPECT_EQ(gpus().live_blocks(), 0);
  EXPECT_THAT(gpus().take_log(), ElementsAre("allocate s1 40", "deallocate s1"));
}

TEST_F(AllocationTest, OfZeroBytesCallsNoBackEnd) {
  const Storage none = allocate(0, test::gpu);
  EXPECT_TRUE(none);
  EXPECT_EQ(none.device(), test::gpu);
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_THAT(gpus().take_log(), IsEmpty());
}

TEST_F(AllocationTest, IsUsableOnOtherStreamsAfterTheProducer) {
  const Array array = empty({4}, float32, test::gpu);
  const StreamGuard guard(Stream::create(test::gpu));
  fill(array, 1.0f);
  Stream::current(test::gpu).synchronize();
  EXPECT_THAT(gpus().take_log(), ElementsAre("allocate d0 16", "record d0 e1", "wait s1 e1",
                                             "fill s1", "synchronize s1"));
}

TEST_F(AllocationTest, IsFreedAfterAllWorkOnOtherStreams) {
  const Stream reader = Stream::create(test::gpu), writer = Stream::create(test::second_gpu);
  {
    const Array array = empty({4}, float32, test::gpu);
    order_use(writer, array, /*writes=*/true);
    test::RecordingBackend::loops.fill(array, Scalar(1.0f), writer.state());
    order_use(reader, array, /*writes=*/false);
    gpus().take_log();
  }
  EXPECT_THAT(gpus().take_log(), ElementsAre("record s2 e3", "wait d0 e3", "record s1 e4",
                                             "wait d0 e4", "deallocate d0"));
  synchronize(test::gpu);
  EXPECT_EQ(gpus().faults(), 0);
}

// Checks the fake device, which counts a fault if memory is freed before queued work that uses it.
TEST(Allocation, FreedTooEarlyIsDetected) {
  test::FakeDevices devices;
  const Stream other = Stream::create(test::gpu);
  {
    const Array array = empty({4}, float32, test::gpu);
    Stream::current(test::gpu).synchronize();
    test::RecordingBackend::loops.fill(array, Scalar(1.0f), other.state());
  }
  Stream::current(test::gpu).synchronize();
  other.synchronize();
  EXPECT_EQ(devices.gpus().faults(), 1);
}

TEST_F(AllocationTest, IsFreedFromAnyThread) {
  Array array = full({1000}, 1.0, float64, test::gpu);
  std::thread([moved = std::move(array)]() mutable { moved = Array{}; }).join();
  EXPECT_EQ(gpus().live_blocks(), 0);
  synchronize(test::gpu);
}

TEST_F(AllocationTest, IsFreedFromManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i] {
      const StreamGuard guard(Stream::create(test::gpu));
      for (int round = 0; round < 50; ++round) {
        const Array a = full({8}, i, int32, test::gpu);
        const Array b = copy(a);
        EXPECT_EQ(item(b.index(0, 3)).as_int64(), i);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(gpus().live_blocks(), 0);
}

TEST_F(AllocationTest, KeepsItsProducerStreamAlive) {
  Storage storage;
  {
    const Stream stream = Stream::create(test::gpu);
    const StreamGuard guard(stream);
    storage = allocate(16, test::gpu);
  }
  storage = Storage{};
  EXPECT_THAT(gpus().take_log(), ElementsAre("allocate s1 16", "deallocate s1"));
}

TEST_F(AllocationTest, IsFreedAfterAWaitWhenEventsFail) {
  {
    const Array array = empty({4}, float32, test::gpu);
    order_use(Stream::create(test::gpu), array, /*writes=*/true);
    gpus().take_log();
    gpus().break_events();
  }
  EXPECT_THAT(gpus().take_log(), ElementsAre("synchronize s1", "deallocate d0"));
}

TEST_F(AllocationTest, IsNeverFreedWhenEventsAndWaitsFail) {
  {
    const Array array = empty({4}, float32, test::gpu);
    order_use(Stream::create(test::gpu), array, /*writes=*/true);
    gpus().take_log();
    gpus().break_events();
    gpus().break_waits();
  }
  EXPECT_THAT(gpus().take_log(), ElementsAre("synchronize s1"))
      << "the end of its last use is unknown";
  gpus().expect_lost_block();
}

TEST_F(AllocationTest, OutOfMemoryReachesTheCaller) {
  gpus().exhaust_memory();
  EXPECT_THROW(allocate(1 << 20, test::gpu), OutOfMemoryError);
  EXPECT_EQ(gpus().live_blocks(), 0);
}

TEST_F(AllocationTest, OfImportOnlyKindsAndAbsentDevicesIsRefused) {
  EXPECT_THROW(allocate(8, Device(DeviceKind::cuda_managed)), DeviceError);
  EXPECT_THROW(allocate(8, Device(DeviceKind::cuda_host)), DeviceError);
  EXPECT_THROW(allocate(8, Device(DeviceKind::cuda, 7)), DeviceError);
}

TEST_F(AllocationTest, OnTheCpuRecordsNoStreams) {
  {
    const Storage storage = allocate(core::StorageFreeList::max_bytes + 1, cpu);
    EXPECT_EQ(devices_.host().live_blocks(), 1);
    EXPECT_TRUE(storage.uses().none());
  }
  EXPECT_EQ(devices_.host().live_blocks(), 0);
}

TEST_F(AllocationTest, FreedSmallCpuBlocksAreReused) {
  void* const data = allocate(40, cpu).data();
  EXPECT_EQ(devices_.host().live_blocks(), 1);
  EXPECT_EQ(allocate(200, cpu).data(), data);  // both sizes are rounded up to 256 bytes
  core::StorageFreeList::drop();
  EXPECT_EQ(devices_.host().live_blocks(), 0);
}

}  // namespace
}  // namespace spanwise
