// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "runtime/stream_order.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/creation.hpp"
#include "support/fake_devices.hpp"

namespace spanwise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uintptr_t foreign_handle = 0x77;
constexpr const char* foreign_name =
    "f119";  // the name of 0x77 = 119 in RecordingBackend::detached()

class StreamTest : public test::RuntimeTest {};

TEST_F(StreamTest, ThreadsThatSetNoStreamShareTheDefault) {
  const Stream here = Stream::current(test::gpu);
  EXPECT_EQ(here.device(), test::gpu);
  std::thread([&] { EXPECT_EQ(Stream::current(test::gpu), here); }).join();
  EXPECT_NE(Stream::current(test::second_gpu), here);
}

TEST_F(StreamTest, TheGuardSetsTheThreadsCurrentStreamAndNests) {
  const Stream before = Stream::current(test::gpu), a = Stream::create(test::gpu),
               b = Stream::create(test::gpu);
  {
    const StreamGuard outer(a);
    EXPECT_EQ(Stream::current(test::gpu), a);
    std::thread([&] { EXPECT_EQ(Stream::current(test::gpu), before); }).join();
    {
      const StreamGuard inner(b);
      EXPECT_EQ(Stream::current(test::gpu), b);
    }
    EXPECT_EQ(Stream::current(test::gpu), a);
  }
  EXPECT_EQ(Stream::current(test::gpu), before);
}

TEST_F(StreamTest, GuardDoesNotAffectOtherDevices) {
  const Stream other = Stream::current(test::second_gpu);
  const StreamGuard guard(Stream::create(test::gpu));
  EXPECT_EQ(Stream::current(test::second_gpu), other);
  const StreamGuard second(Stream::create(test::second_gpu));
  EXPECT_NE(Stream::current(test::second_gpu), other);
}

TEST_F(StreamTest, TheGuardKeepsItsStreamAlive) {
  const StreamGuard guard(Stream::create(test::gpu));
  constexpr std::uintptr_t first_created = 0x2001;  // the handle of RecordingBackend's first stream
  EXPECT_EQ(Stream::current(test::gpu).handle(), first_created);
}

TEST_F(StreamTest, ForeignStreamKeepsItsHandle) {
  const Stream stream = Stream::foreign(test::gpu, foreign_handle);
  EXPECT_EQ(stream.handle(), foreign_handle);
  EXPECT_EQ(stream, Stream::foreign(test::gpu, foreign_handle));
  EXPECT_NE(stream, Stream::foreign(test::second_gpu, foreign_handle));
  EXPECT_NE(Stream::foreign(test::gpu, 2), Stream::foreign(test::gpu, 2))
      << "handle 2 is the per-thread default stream, so two objects may mean different streams";
  EXPECT_THROW(Stream::foreign(test::gpu, 0), ArgumentError);
  EXPECT_THROW(Stream::foreign(cpu, 5), ArgumentError);
  EXPECT_THROW(Stream::foreign(Device(DeviceKind::cuda, 4), 5), DeviceError);
}

TEST_F(StreamTest, UsedForeignStreamIsDetachedWithItsLastObject) {
  const Array array = empty({4}, float32, test::gpu);
  {
    const Stream stream = Stream::foreign(test::gpu, foreign_handle);
    const Stream copy = stream;
    order_use(copy, array, true);
    EXPECT_THAT(gpus().detached(), IsEmpty());
  }
  EXPECT_THAT(gpus().detached(), ElementsAre(foreign_name));
}

TEST_F(StreamTest, ForeignStreamIsNotDetachedWhileItIsTheCurrentStream) {
  const Array array = empty({4}, float32, test::gpu);
  {
    const StreamGuard guard(Stream::foreign(test::gpu, foreign_handle));
    order_use(Stream::current(test::gpu), array, true);
    EXPECT_THAT(gpus().detached(), IsEmpty());
  }
  EXPECT_THAT(gpus().detached(), ElementsAre(foreign_name));
}

TEST_F(StreamTest, UnusedForeignStreamIsNotDetached) {
  Stream::foreign(test::gpu, foreign_handle).synchronize();
  {
    const StreamGuard guard(Stream::foreign(test::gpu, 0x78));
  }
  EXPECT_THAT(gpus().detached(), IsEmpty());
}

TEST_F(StreamTest, OwnerOfAForeignStreamIsKeptWhileMemoryRecordsTheStream) {
  class StreamOwner final : public RefCounted {};
  const auto owner = make_ref<StreamOwner>();
  Array array = empty({4}, float32, test::gpu);
  order_use(Stream::foreign(test::gpu, foreign_handle, owner), array, true);
  EXPECT_EQ(owner->use_count(), 2);
  array = {};
  EXPECT_EQ(owner->use_count(), 1);
  EXPECT_THAT(gpus().detached(), IsEmpty());
  static_cast<void>(Stream::foreign(test::gpu, 1, owner));
  EXPECT_EQ(owner->use_count(), 1) << "the default stream keeps no owner";
}

TEST_F(StreamTest, WaitingForAnotherStreamUsesOneEvent) {
  const Stream a = Stream::create(test::gpu), b = Stream::create(test::second_gpu);
  a.wait(b);
  EXPECT_THAT(gpus().take_log(), ElementsAre("record s2 e1", "wait s1 e1"));
}

TEST_F(StreamTest, WaitingForItselfDoesNothing) {
  const Stream a = Stream::create(test::gpu);
  a.wait(a);
  Stream::foreign(test::gpu, 7).wait(Stream::foreign(test::gpu, 7));
  EXPECT_THAT(gpus().take_log(), IsEmpty());
}

TEST_F(StreamTest, DeviceNeedNotWaitForTheHostAndTheHostBlocks) {
  const Stream host = Stream::current(cpu), device = Stream::create(test::gpu);
  device.wait(host);
  device.wait(host.record());
  EXPECT_THAT(gpus().take_log(), IsEmpty());
  const Event event = device.record();
  EXPECT_FALSE(event.query());
  host.wait(event);
  EXPECT_TRUE(event.query());
  device.record();
  EXPECT_FALSE(device.query());
  host.wait(device);
  EXPECT_TRUE(device.query());
}

TEST_F(StreamTest, EventsCompleteInStreamOrder) {
  const Stream stream = Stream::create(test::gpu);
  const Event first = stream.record(), second = stream.record();
  EXPECT_EQ(first.device(), test::gpu);
  first.synchronize();
  EXPECT_TRUE(first.query());
  EXPECT_FALSE(second.query());
  stream.synchronize();
  EXPECT_TRUE(second.query());
  EXPECT_TRUE(stream.query());
}

TEST_F(StreamTest, TimeIsMeasuredBetweenTimedEventsOfOneDevice) {
  const Stream stream = Stream::create(test::gpu);
  const Event start = stream.record(/*timing=*/true), end = stream.record(/*timing=*/true);
  EXPECT_THROW(end.milliseconds_since(start), DeviceError) << "the events are not complete";
  stream.synchronize();
  EXPECT_EQ(end.milliseconds_since(start), 1.0);
  EXPECT_THROW(end.milliseconds_since(Stream::create(test::second_gpu).record(true)),
               ArgumentError);
}

TEST_F(StreamTest, StreamOfAnIdentityIsTheOriginalStream) {
  const Stream stream = Stream::create(test::gpu);
  StreamIdentity& identity = stream.state();
  EXPECT_EQ(Stream::of(identity), stream);
}

TEST_F(StreamTest, CpuStreamIsAlwaysIdle) {
  const Stream stream = Stream::current(cpu);
  EXPECT_EQ(stream.device(), cpu);
  EXPECT_EQ(stream.handle(), 0U);
  EXPECT_TRUE(stream.query());
  EXPECT_NE(Stream::create(cpu), stream);
}

}  // namespace
}  // namespace spanwise
