// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <thread>

#include "cuda_device.hpp"
#include "spanwise/runtime/stream.hpp"
#include "support/message_of.hpp"

namespace spanwise::cuda {
namespace {

using runtime::EventState;
using runtime::StreamState;
using testing::HasSubstr;

class CudaStreams : public CudaTest {
 protected:
  static void write_later(StreamState& stream, const DeviceBytes& memory, int value, int ms) {
    launch(*delayed_write(), 1, stream, static_cast<int*>(memory.data()), value, ms * ns_per_ms);
  }
  static void launch_copy_int(StreamState& stream, const DeviceBytes& from, const DeviceBytes& to) {
    launch(*copy_int(), 1, stream, static_cast<int*>(from.data()), static_cast<int*>(to.data()));
  }
  static void clear(DeviceBytes& memory) {
    const int zero = 0;
    memory.put(&zero);
    backend().synchronize(0);
  }
};

TEST_F(CudaStreams, TheDefaultIsOneSharedLegacyStream) {
  EXPECT_EQ(default_stream()->handle(), 1u);
  EXPECT_EQ(default_stream(), default_stream());
  EXPECT_EQ(default_stream()->device(), gpu);
  EXPECT_EQ(backend().foreign_stream(0, 1), default_stream());
}

TEST_F(CudaStreams, NewStreamsAreIndependent) {
  const Ref<StreamState> a = backend().create_stream(0), b = backend().create_stream(0);
  EXPECT_NE(a->handle(), b->handle());
  EXPECT_GT(a->handle(), 2u);
  EXPECT_TRUE(a->query());
}

TEST_F(CudaStreams, QueryAndSynchronizeCoverQueuedWork) {
  const Ref<StreamState> stream = backend().create_stream(0);
  DeviceBytes memory(4);
  clear(memory);
  write_later(*stream, memory, 5, 50);
  EXPECT_FALSE(stream->query());
  stream->synchronize();
  EXPECT_TRUE(stream->query());
  EXPECT_EQ(memory.get<int>()[0], 5);
}

TEST_F(CudaStreams, AnEventMakesAnotherStreamWait) {
  const Ref<StreamState> a = backend().create_stream(0), b = backend().create_stream(0);
  DeviceBytes memory(4), seen(4);
  clear(memory);
  clear(seen);
  write_later(*a, memory, 7, 50);
  const Ref<EventState> written = a->record(false);
  b->wait(*written);
  launch_copy_int(*b, memory, seen);
  b->synchronize();
  EXPECT_EQ(seen.get<int>()[0], 7);
}

TEST_F(CudaStreams, WithoutAnEventStreamsDoNotWaitForEachOther) {
  SKIP_UNDER_TOOLS("kernels of two streams run one after the other");
  // Control for the test above: without the wait, the streams are not ordered.
  const Ref<StreamState> a = backend().create_stream(0), b = backend().create_stream(0);
  DeviceBytes memory(4), seen(4);
  clear(memory);
  clear(seen);
  launch_copy_int(*b, memory, seen);  // loads the kernel, which may wait for all streams
  b->synchronize();
  write_later(*a, memory, 7, 500);
  launch_copy_int(*b, memory, seen);
  b->synchronize();
  EXPECT_FALSE(a->query());
  a->synchronize();
  EXPECT_EQ(seen.get<int>()[0], 0);
}

TEST_F(CudaStreams, EventsAreReusedWithoutMixingTheirMeanings) {
  const Ref<StreamState> a = backend().create_stream(0), b = backend().create_stream(0);
  DeviceBytes memory(4), seen(4);
  for (int i = 1; i <= 20; ++i) {
    write_later(*a, memory, i, 2);
    b->wait(*a->record(false));  // the event returns to the pool at once
    launch_copy_int(*b, memory, seen);
    a->wait(*b->record(false));
  }
  a->synchronize();
  b->synchronize();
  EXPECT_EQ(seen.get<int>()[0], 20);
}

TEST_F(CudaStreams, EventsCanBeQueriedAndSynchronized) {
  const Ref<StreamState> stream = backend().create_stream(0);
  DeviceBytes memory(4);
  write_later(*stream, memory, 1, 50);
  const Ref<EventState> event = stream->record(false);
  EXPECT_NE(event->handle(), 0u);
  EXPECT_FALSE(event->query());
  event->synchronize();
  EXPECT_TRUE(event->query());
}

TEST_F(CudaStreams, TimingIsInMilliseconds) {
  const Ref<StreamState> stream = backend().create_stream(0);
  DeviceBytes memory(4);
  const Ref<EventState> start = stream->record(true);
  write_later(*stream, memory, 1, 20);
  const Ref<EventState> end = stream->record(true);
  EXPECT_THROW(end->milliseconds_since(*start), DeviceError) << "the event is not complete";
  end->synchronize();
  EXPECT_GE(end->milliseconds_since(*start), 19.0);
  EXPECT_LT(end->milliseconds_since(*start), 2000.0);
}

TEST_F(CudaStreams, TimingIsOptional) {
  const Ref<StreamState> stream = backend().create_stream(0);
  const Ref<EventState> start = stream->record(true), end = stream->record(false);
  end->synchronize();
  EXPECT_THAT(test::message_of<DeviceError>([&] { end->milliseconds_since(*start); }),
              HasSubstr("without timing"));
}

TEST_F(CudaStreams, WrappedForeignHandlesAreNotDestroyed) {
  const Ref<StreamState> ours = backend().create_stream(0);
  {
    const Ref<StreamState> foreign = backend().foreign_stream(0, ours->handle());
  }
  DeviceBytes memory(4);
  write_later(*backend().foreign_stream(0, ours->handle()), memory, 3, 1);
  ours->synchronize();
  EXPECT_EQ(memory.get<int>()[0], 3);
}

TEST_F(CudaStreams, PersistentStreamIsOneObject) {
  const Ref<StreamState> ours = backend().create_stream(0);
  const auto persistent = [](std::uintptr_t handle) {
    return Ref<StreamState>(&Stream::persistent(gpu, handle).state());
  };
  const Ref<StreamState> kept = persistent(ours->handle());
  EXPECT_EQ(kept->handle(), ours->handle());
  EXPECT_EQ(persistent(ours->handle()), kept);
  EXPECT_NE(backend().foreign_stream(0, ours->handle()), kept);
  EXPECT_EQ(persistent(1), default_stream());
  const Ref<StreamState> per_thread = persistent(2);
  EXPECT_NE(persistent(2), per_thread) << "the handle means another stream on each thread";
  EXPECT_THROW(persistent(7), ArgumentError);
}

TEST_F(CudaStreams, InvalidStreamIsRefused) {
  EXPECT_THROW(backend().foreign_stream(0, 0), ArgumentError);
  EXPECT_THROW(backend().foreign_stream(0, 7), ArgumentError);
  EXPECT_THROW(backend().create_stream(99), DeviceError);
}

TEST_F(CudaStreams, StreamOfANonPrimaryContextIsRefused) {
  auto* create = driver_function<CUresult(CUcontext*, unsigned, CUdevice)>("cuCtxCreate_v2");
  auto* destroy = driver_function<CUresult(CUcontext)>("cuCtxDestroy_v2");
  ASSERT_NE(create, nullptr);
  CUcontext context = nullptr;
  ASSERT_EQ(create(&context, 0, 0), CUDA_SUCCESS);
  CUstream stream = nullptr;
  ASSERT_EQ(driver().stream_create(&stream, 0), CUDA_SUCCESS);
  EXPECT_THAT(test::message_of<ArgumentError>(
                  [&] { backend().foreign_stream(0, reinterpret_cast<std::uintptr_t>(stream)); }),
              HasSubstr("primary"));
  CUcontext current = nullptr;
  driver().ctx_get_current(&current);
  EXPECT_EQ(current, context) << "the current context was changed";
  destroy(context);
}

TEST_F(CudaStreams, AStreamOfAnotherDeviceIsRefused) {
  if (backend().device_count() < 2) GTEST_SKIP() << "one device only";
  const Ref<StreamState> other = backend().create_stream(1);
  EXPECT_THROW(backend().foreign_stream(0, other->handle()), ArgumentError);
  DeviceBytes memory(4);
  EXPECT_THROW(write_later(*other, memory, 1, 0), ArgumentError);
  EXPECT_THROW(backend().allocate(0, 16, *other), ArgumentError);
}

TEST_F(CudaStreams, EventsOrderStreamsOfTwoDevices) {
  if (backend().device_count() < 2) GTEST_SKIP() << "one device only";
  const Ref<StreamState> first = backend().create_stream(0), second = backend().create_stream(1);
  DeviceBytes memory(4);
  clear(memory);
  write_later(*first, memory, 11, 50);
  second->wait(*first->record(false));
  int got = 0;
  void* copy = backend().allocate(1, 4, *second);
  backend().copy_peer(memory.data(), 0, copy, 1, 4, *second);
  backend().download(copy, &got, 4, *second);
  EXPECT_EQ(got, 11);
  backend().deallocate(1, copy, 4, *second);
}

TEST_F(CudaStreams, PerThreadStreamIsOrderedCorrectlyFromOtherThreads) {
  DeviceBytes memory(4), seen(4);
  clear(memory);
  clear(seen);
  const Ref<StreamState> per_thread = backend().foreign_stream(0, 2);
  write_later(*per_thread, memory, 9, 100);
  const Ref<StreamState> other = backend().create_stream(0);
  std::thread([&] {
    // On this thread the driver's handle 2 means another stream, which is idle.
    const Ref<EventState> event = per_thread->record(false);
    EXPECT_FALSE(event->query());
    other->wait(*event);
    launch_copy_int(*other, memory, seen);
  }).join();
  other->synchronize();
  EXPECT_EQ(seen.get<int>()[0], 9);
}

TEST_F(CudaStreams, RestoreTheCallersContext) {
  const auto current = [] {
    CUcontext context = nullptr;
    driver().ctx_get_current(&context);
    return context;
  };
  const auto use_everything = [] {
    DeviceBytes memory(64);
    clear(memory);
    const Ref<StreamState> stream = backend().create_stream(0);
    write_later(*stream, memory, 1, 0);
    stream->record(true)->synchronize();
    stream->query();
    backend().memory(0);
    backend().properties(0);
    load_module("__device__ int v; __global__ void k() {}")->global("v");
    loops().fill(memory.array(Layout::row_major({16}), float32), Scalar(1.5f), *stream);
    backend().synchronize(0);
  };
  std::thread([&] {
    EXPECT_EQ(current(), nullptr);
    use_everything();
    CUcontext primary = nullptr;
    ASSERT_EQ(driver().device_primary_ctx_retain(&primary, 0), CUDA_SUCCESS);
    EXPECT_EQ(current(), primary) << "what the runtime API gives to a thread that has none";
    auto* create = driver_function<CUresult(CUcontext*, unsigned, CUdevice)>("cuCtxCreate_v2");
    CUcontext other = nullptr;
    ASSERT_EQ(create(&other, 0, 0), CUDA_SUCCESS);
    use_everything();
    EXPECT_EQ(current(), other);
    driver_function<CUresult(CUcontext)>("cuCtxDestroy_v2")(other);
  }).join();
}

TEST_F(CudaStreams, ASecondDeviceDoesNotBecomeTheThreadsDevice) {
  if (backend().device_count() < 2) GTEST_SKIP() << "one device only";
  std::thread([&] {
    const Ref<StreamState> stream = backend().create_stream(1);
    stream->synchronize();
    CUcontext context = nullptr;
    driver().ctx_get_current(&context);
    EXPECT_EQ(context, nullptr);
  }).join();
}

TEST_F(CudaStreams, ManyThreadsShareOneStream) {
  const Ref<StreamState> stream = backend().create_stream(0);
  const Ref<runtime::LoadedKernel> add =
      load_kernel("__global__ void add(int* p) { atomicAdd(p, 1); }\n", "add");
  DeviceBytes memory(4);
  clear(memory);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        launch(*add, 32, *stream, static_cast<int*>(memory.data()));
        stream->record(i % 2 == 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  stream->synchronize();
  EXPECT_EQ(memory.get<int>()[0], 8 * 100 * 32);
}

}  // namespace
}  // namespace spanwise::cuda
