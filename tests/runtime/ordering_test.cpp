// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/stream_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/stream.hpp"
#include "support/fake_devices.hpp"
#include "support/naive_loops.hpp"

namespace spanwise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class OrderingTest : public test::RuntimeTest {
 protected:
  // Host memory presented as a device array of another library.
  Array imported(Device device = test::gpu) {
    return Array(Storage::adopt(memory_, sizeof memory_, device, nullptr, nullptr),
                 Layout::row_major({4}), float32);
  }

  float memory_[4]{};
};

TEST_F(OrderingTest, OneStreamNeedsNoEvents) {
  const Stream stream = Stream::create(test::gpu);
  const Array array = imported();
  for (const bool writes : {true, false, true}) order_use(stream, array, writes);
  EXPECT_THAT(gpus().take_log(), IsEmpty());
  EXPECT_TRUE(array.storage().uses().is_only_user(stream.state()));
}

TEST_F(OrderingTest, AnArrayWithoutStorageIsIgnored) {
  EXPECT_NO_THROW(order_use(Stream::create(test::gpu), Array{}, true));
}

TEST_F(OrderingTest, ReaderRunsAfterTheWriter) {
  const Stream writer = Stream::create(test::gpu), reader = Stream::create(test::gpu);
  const Array array = imported();
  order_use(writer, array, true);
  order_use(reader, array, false);
  EXPECT_THAT(gpus().take_log(), ElementsAre("record s1 e1", "wait s2 e1"));
  order_use(reader, array, false);
  EXPECT_THAT(gpus().take_log(), IsEmpty());
}

TEST_F(OrderingTest, TwoObjectsOfOneStreamNeedNoEvents) {
  const Array array = imported();
  order_use(Stream::foreign(test::gpu, 0x77), array, true);
  order_use(Stream::foreign(test::gpu, 0x77), array, false);
  EXPECT_THAT(gpus().take_log(), IsEmpty());
}

TEST_F(OrderingTest, WriterRunsAfterAllReaders) {
  const Stream a = Stream::create(test::gpu), b = Stream::create(test::second_gpu),
               c = Stream::create(test::gpu);
  const Array array = imported();
  order_use(a, array, false);
  order_use(b, array, false);
  order_use(c, array, true);
  EXPECT_THAT(gpus().take_log(),
              UnorderedElementsAre("record s1 e1", "wait s3 e1", "record s2 e2", "wait s3 e2"));
}

TEST_F(OrderingTest, HostAccessSynchronizesAndIsNotRecorded) {
  const Stream device = Stream::create(test::gpu);
  const Array managed = imported(Device(DeviceKind::cuda_managed));
  order_use(device, managed, true);
  const Event event = device.record();
  order_use(Stream::current(cpu), managed, false);
  EXPECT_TRUE(event.query()) << "the host did not wait for the work on the device";
  EXPECT_TRUE(managed.storage().uses().is_only_user(device.state()));
  EXPECT_THAT(gpus().take_log(), ElementsAre("record s1 e1", "record s1 e2"));
}

TEST_F(OrderingTest, CpuWorkIsNotRecorded) {
  const Array array = imported(cpu);
  order_use(Stream::current(cpu), array, true);
  EXPECT_TRUE(array.storage().uses().none());
}

// Checks the fake device: a read that is not ordered after a write gets the earlier values.
TEST_F(OrderingTest, WithoutOrderingAnotherStreamReadsOldValues) {
  const Stream first = Stream::create(test::gpu), second = Stream::create(test::gpu);
  float result[4]{};
  const auto read_on_second = [&](const Array& array) {
    gpus().download(array.data(), result, sizeof result, second.state());
    return result[0];
  };
  {
    const Array array = imported();
    test::RecordingBackend::loops.fill(array, Scalar(1.0f), first.state());
    EXPECT_EQ(read_on_second(array), 0.0f);
    first.synchronize();
  }
  const Array array = imported();
  order_use(first, array, true);
  test::RecordingBackend::loops.fill(array, Scalar(2.0f), first.state());
  order_use(second, array, false);
  EXPECT_EQ(read_on_second(array), 2.0f);
}

TEST_F(OrderingTest, CopiesOnDifferentStreamsFollowEachOther) {
  const Array host = full({4}, 3.0f, float32, cpu);
  const Stream a = Stream::create(test::gpu), b = Stream::create(test::gpu),
               c = Stream::create(test::second_gpu);
  const auto on = [](const Stream& stream, auto&& work) {
    const StreamGuard guard(stream);
    return work();
  };
  const Array first = on(a, [&] { return to_device(host, test::gpu); });
  const Array second = on(b, [&] { return copy(first); });
  const Array third = on(c, [&] { return to_device(second, test::second_gpu); });
  on(a, [&] { fill(first, 9.0f); });
  const Array back = on(c, [&] { return to_device(third, cpu); });
  EXPECT_THAT(test::values(back), ::testing::Each(std::complex<double>(3)));
  EXPECT_THAT(test::values(to_device(first, cpu)), ::testing::Each(std::complex<double>(9)));
}

// Each thread reads the array on its stream, after the writer.
TEST_F(OrderingTest, ManyThreadsReadOneArray) {
  const Array shared = full({16}, 5, int32, test::gpu);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([shared] {
      const StreamGuard guard(Stream::create(test::gpu));
      for (int round = 0; round < 50; ++round)
        EXPECT_EQ(item(copy(shared).index(0, round % 16)).as_int64(), 5);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(OrderingTest, LaunchBlockingWaitsAfterEachCopy) {
  const Array array = empty({4}, float32, test::gpu);
  config::set("launch_blocking", "1");
  fill(array, 1.0f);
  config::set("launch_blocking", "0");
  EXPECT_THAT(gpus().take_log(), ElementsAre("allocate d0 16", "fill d0", "synchronize d0"));
  fill(array, 2.0f);
  EXPECT_THAT(gpus().take_log(), ElementsAre("fill d0"));
}

}  // namespace
}  // namespace spanwise
