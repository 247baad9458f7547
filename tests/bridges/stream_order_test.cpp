// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "bridges/release_counter.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/bridge/dlpack.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "support/fake_devices.hpp"

/// Stream order of foreign GPU memory, on fake GPUs that run work as late as possible, so
/// that a missing wait gives a wrong result.
namespace spanwise {
namespace {

using test::gpu;
using test::ReleaseCounter;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StreamOrder : public test::RuntimeTest {
 protected:
  // Waits for the default stream's work on memory_, so that logs contain no order after it.
  void SetUp() override { gpus().synchronize(gpu.ordinal()); }

  // Owners that still wait for work of the fake devices must not outlive these.
  void TearDown() override {
    memory_ = Array();
    for (const Device device : {gpu, test::second_gpu}) gpus().synchronize(device.ordinal());
    collect_released();
    RuntimeTest::TearDown();
  }

  // Four floats of a GPU that belong to another library, and its view of them.
  ForeignView foreign_view(std::vector<std::uintptr_t> streams, bool persistent_streams) {
    ForeignView view;
    view.owner = owner_.owner();
    view.memory.data = memory_.data();
    view.memory.device = gpu;
    view.memory.dtype = float32;
    view.memory.shape = Shape{4};
    view.memory.row_major = true;
    view.streams = std::move(streams);
    view.persistent_streams = persistent_streams;
    return view;
  }

  Array memory_ = empty(Shape{4}, float32, gpu);
  ReleaseCounter owner_;
};

TEST_F(StreamOrder, PersistentStreamIsWaitedForAtTheFirstUse) {
  ForeignView view = foreign_view({7}, true);
  gpus().take_log();
  const Array array = share(view).value();
  EXPECT_THAT(gpus().take_log(), IsEmpty());
  const Stream used = Stream::create(gpu);
  order_use(used, array, false);
  EXPECT_THAT(gpus().take_log(), ElementsAre("record f7 e1", "wait s1 e1"));
}

TEST_F(StreamOrder, TemporaryStreamIsWaitedForAtOnce) {
  ForeignView view = foreign_view({7}, false);
  gpus().take_log();
  const Array array = share(view).value();
  EXPECT_THAT(gpus().take_log(), ElementsAre("record f7 e1", "wait d0 e1"));
  // Another stream of ours then waits for the stream that has waited.
  order_use(Stream::create(gpu), array, false);
  EXPECT_THAT(gpus().take_log(), ElementsAre("record d0 e2", "wait s1 e2"));
}

TEST_F(StreamOrder, SeveralStreamsAreAllWaitedFor) {
  ForeignView view = foreign_view({1, 7}, false);
  gpus().take_log();
  const Array array = share(view).value();
  EXPECT_THAT(gpus().take_log(),
              ElementsAre("record f1 e1", "wait d0 e1", "record f7 e2", "wait d0 e2"));
}

TEST_F(StreamOrder, EmptyTensorNeedsNoOrdering) {
  ForeignView view = foreign_view({7}, false);
  view.memory.shape = Shape{0};
  gpus().take_log();
  EXPECT_EQ(share(view).value().device(), gpu);
  EXPECT_THAT(gpus().take_log(), IsEmpty());
}

TEST_F(StreamOrder, ImportNeverBlocksTheHost) {
  for (const bool persistent : {false, true}) {
    ForeignView view = foreign_view({1}, persistent);
    gpus().take_log();
    const Array array = share(view).value();
    order_use(Stream::create(gpu), array, true);
    for (const std::string& entry : gpus().take_log())
      EXPECT_NE(entry.find("synchronize"), 0u) << entry;
  }
}

TEST_F(StreamOrder, ProducerStreamWaitsForOurWorkAndReleaseIsImmediate) {
  ForeignView view = foreign_view({7}, true);
  {
    const Array array = share(view).value();
    order_use(Stream::create(gpu), array, true);
    gpus().take_log();
  }
  EXPECT_THAT(gpus().take_log(), ElementsAre("record s1 e2", "wait f7 e2"));
  EXPECT_EQ(owner_.releases, 1);
}

TEST_F(StreamOrder, ProducerStreamUsedAloneWaitsForNothing) {
  ForeignView view = foreign_view({7}, true);
  {
    const Array array = share(view).value();
    order_use(Stream::persistent(gpu, 7), array, true);
    gpus().take_log();
  }
  EXPECT_THAT(gpus().take_log(), IsEmpty());
  EXPECT_EQ(owner_.releases, 1);
}

TEST_F(StreamOrder, PersistentStreamIsOneObjectAndThePerThreadStreamIsNot) {
  const Stream first = Stream::persistent(gpu, 7);
  EXPECT_EQ(&Stream::persistent(gpu, 7).identity(), &first.identity());
  EXPECT_NE(&Stream::persistent(test::second_gpu, 7).identity(), &first.identity());
  EXPECT_NE(&Stream::foreign(gpu, 7).identity(), &first.identity());
  const Stream per_thread = Stream::persistent(gpu, 2);
  EXPECT_NE(&Stream::persistent(gpu, 2).identity(), &per_thread.identity());
}

TEST_F(StreamOrder, WithoutAProducerStreamReleaseFollowsOurWork) {
  const Stream used = Stream::create(gpu);
  ForeignView view = foreign_view({}, false);
  {
    const StreamGuard current(used);
    const Array array = share(view).value();
    copy(memory_, empty(Shape{4}, float32, gpu));
    order_use(used, array, false);
  }
  EXPECT_EQ(owner_.releases, 0);
  collect_released();
  EXPECT_EQ(owner_.releases, 0);
  used.synchronize();
  EXPECT_EQ(owner_.releases, 0);
  collect_released();
  EXPECT_EQ(owner_.releases, 1);
  collect_released();
  EXPECT_EQ(owner_.releases, 1);
}

TEST_F(StreamOrder, IdleStreamDelaysNoRelease) {
  ForeignView view = foreign_view({}, false);
  {
    const Array array = share(view).value();
  }
  EXPECT_EQ(owner_.releases, 1);
}

TEST_F(StreamOrder, MemoryOfAFailedDeviceIsNotReleased) {
  ForeignView view = foreign_view({7}, true);
  {
    const Array array = share(view).value();
    order_use(Stream::create(gpu), array, true);
    gpus().break_events();
    gpus().break_waits();
  }
  EXPECT_EQ(owner_.releases, 0);
}

TEST_F(StreamOrder, OwnersOfAFailedDeviceKeepWaitingUntilItAnswers) {
  std::array<ReleaseCounter, 3> owners;
  std::vector<Stream> streams;
  for (ReleaseCounter& owner : owners) {
    const Stream used = streams.emplace_back(Stream::create(gpu));
    const StreamGuard current(used);
    ForeignView view = foreign_view({7}, false);
    view.owner = owner.owner();
    const Array array = share(view).value();
  }
  streams[0].synchronize();
  gpus().break_events();  // the work of the first has completed, the others cannot be queried
  for (int again = 0; again < 3; ++again) collect_released();
  EXPECT_EQ(owners[0].releases, 1);
  EXPECT_EQ(owners[1].releases + owners[2].releases, 0);
  gpus().break_events(false);
  for (const Stream& stream : streams) stream.synchronize();
  collect_released();
  for (const ReleaseCounter& owner : owners) EXPECT_EQ(owner.releases, 1);
}

TEST_F(StreamOrder, BytesOfAGpuAreGatheredThere) {
  std::vector<unsigned char> swapped{0x3f, 0x80, 0, 0, 0x40, 0, 0, 0};  // 1.0f and 2.0f, big-endian
  const Array bytes = empty(Shape{8}, uint8, gpu);
  copy(Array(Storage::adopt(swapped.data(), 8, cpu, nullptr, nullptr), Layout::row_major({8}),
             uint8),
       bytes);
  ForeignView view = foreign_view({7}, true);
  view.memory.data = bytes.data();
  view.memory.shape = Shape{2};
  view.memory.byte_swapped = true;
  const Array result = take(view, CopyMode::if_needed, "test");
  EXPECT_EQ(result.device(), gpu);
  const Array host = to_device(result, cpu);
  EXPECT_EQ(static_cast<float*>(host.data())[0], 1.0f);
  EXPECT_EQ(static_cast<float*>(host.data())[1], 2.0f);
}

TEST_F(StreamOrder, PinnedMemoryIsTheHostsAndManagedMemoryTheGpus) {
  std::vector<float> pinned(4);
  ForeignView view = foreign_view({}, false);
  view.memory.data = pinned.data();
  view.memory.device = Device(DeviceKind::cuda_host);
  EXPECT_EQ(share(view).value().device(), cpu);
  ForeignView managed = foreign_view({}, false);
  managed.memory.device = Device(DeviceKind::cuda_managed);
  EXPECT_EQ(share(managed).value().device(), gpu);
}

TEST_F(StreamOrder, AbsentDeviceIsRefusedAndTheTensorReleased) {
  {
    ForeignView view = foreign_view({}, false);
    view.memory.device = Device(DeviceKind::cuda, 5);
    EXPECT_THROW(share(view), DeviceError);
  }
  EXPECT_EQ(owner_.releases, 1);
}

TEST_F(StreamOrder, GpuTensorRoundTrips) {
  fill(memory_, 3.0f);
  const Array again = from_dlpack(to_dlpack(memory_));
  EXPECT_EQ(again.data(), memory_.data());
  EXPECT_EQ(again.device(), gpu);
  EXPECT_EQ(item(again.index(0, 2)).as_double(), 3.0);
}

}  // namespace
}  // namespace spanwise
