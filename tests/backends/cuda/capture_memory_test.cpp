// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Memory used by work in a CUDA graph, and the queries allowed during a capture.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "cuda_capture.hpp"
#include "cuda_device.hpp"
#include "runtime/allocation.hpp"
#include "runtime/stream_order.hpp"

namespace spanwise::cuda {
namespace {

using runtime::StreamState;

class CudaCaptureMemory : public CaptureTest {
 protected:
  static void backend_synchronize() { backend().synchronize(0); }
  // Waits until the memory of earlier tests' graphs is freed.
  static void wait_for_earlier_graphs() {
    for (int i = 0; i < 3; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      static_cast<void>(runtime::allocate_on(*default_stream(), 4));
    }
    backend_synchronize();
  }
  // Waits until at most `used` bytes are in use; false after 30 s. The driver destroys graphs on
  // another thread.
  static bool use_falls_to(std::int64_t used) {
    for (int i = 0; i < 3000; ++i) {
      static_cast<void>(runtime::allocate_on(*default_stream(), 4));
      backend_synchronize();
      if (backend().memory(0).used <= used) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  // Whether one of many new blocks begins at `data`.
  static bool is_reused(const void* data, std::size_t bytes,
                        const std::vector<Ref<StreamState>>& streams) {
    backend_synchronize();
    std::vector<Storage> blocks;
    for (const Ref<StreamState>& stream : streams)
      for (int i = 0; i < 70; ++i) blocks.push_back(runtime::allocate_on(*stream, bytes));
    return std::any_of(blocks.begin(), blocks.end(),
                       [&](const Storage& storage) { return storage.data() == data; });
  }
};

TEST_F(CudaCaptureMemory, MemoryThatAGraphWritesIsNotReusedBeforeTheGraphIsDestroyed) {
  for (const std::size_t bytes : {std::size_t{1000}, std::size_t{3} << 20}) {
    void *temporary = nullptr, *result = nullptr;
    Capture capture(*stream_);
    {
      const Storage dropped = runtime::allocate_on(*stream_, bytes);
      temporary = dropped.data();
      launch(*delayed_write(), 1, *stream_, static_cast<int*>(temporary), 5, 0LL);
    }
    Storage kept = runtime::allocate_on(*stream_, bytes);
    result = kept.data();
    launch(*copy_int(), 1, *stream_, static_cast<int*>(temporary), static_cast<int*>(result));
    ASSERT_EQ(capture.end(), CUDA_SUCCESS);
    EXPECT_EQ(capture.node_count(), 2u);
    kept = Storage{};
    EXPECT_FALSE(is_reused(temporary, bytes, {stream_, side_, default_stream()}));
    EXPECT_FALSE(is_reused(result, bytes, {stream_, side_, default_stream()}));
    capture.run();
  }
}

TEST_F(CudaCaptureMemory, MemoryOfAGraphIsFreedWithTheGraph) {
  constexpr std::size_t bytes = 3 << 20;
  wait_for_earlier_graphs();
  const std::int64_t used = backend().memory(0).used;
  {
    Capture capture(*stream_);
    Storage storages[] = {runtime::allocate_on(*stream_, bytes),
                          runtime::allocate_on(*stream_, bytes)};
    launch(*delayed_write(), 1, *stream_, static_cast<int*>(storages[0].data()), 5, 0LL);
    storages[0] = Storage{};
    ASSERT_EQ(capture.end(), CUDA_SUCCESS);
    storages[1] = Storage{};
    capture.run();
    EXPECT_GE(backend().memory(0).used, used + static_cast<std::int64_t>(2 * bytes));
  }
  EXPECT_TRUE(use_falls_to(used));
}

TEST_F(CudaCaptureMemory, DroppingMemoryOfAnotherStreamIsNotCaptured) {
  for (const Ref<StreamState>& stream : {default_stream(), side_}) {
    DeviceBytes b(4);
    Storage a = runtime::allocate_on(*stream, 4);
    launch(*delayed_write(), 1, *stream, static_cast<int*>(a.data()), 9, 0LL);
    backend_synchronize();
    Capture capture(*stream_);
    runtime::order_use(*stream_, a, false);
    launch(*copy_int(), 1, *stream_, static_cast<int*>(a.data()), static_cast<int*>(b.data()));
    const void* data = a.data();
    a = Storage{};
    ASSERT_EQ(capture.end(), CUDA_SUCCESS) << "the capture must continue";
    EXPECT_FALSE(is_reused(data, 4, {stream_, side_, default_stream()}));
    capture.run();
    EXPECT_EQ(b.get<int>()[0], 9);
  }
}

TEST_F(CudaCaptureMemory, OwnerIsReleasedWithTheGraphThatUsesItsMemory) {
  static std::atomic<int> releases;
  releases = 0;
  DeviceBytes a(4), b(4);
  const int one = 1;
  a.put(&one);
  const ReleaseFn release = [](void*, void*, std::size_t, StreamUses&) noexcept { ++releases; };
  {
    Storage foreign = Storage::adopt(a.data(), 4, gpu, release, nullptr);
    foreign.uses().set_producer(default_stream());
    Capture capture(*stream_);
    runtime::order_use(*stream_, foreign, true);
    launch(*copy_int(), 1, *stream_, static_cast<int*>(a.data()), static_cast<int*>(b.data()));
    foreign = Storage{};
    EXPECT_EQ(releases, 0);
    ASSERT_EQ(capture.end(), CUDA_SUCCESS);
    capture.run();
    static_cast<void>(runtime::allocate_on(*stream_, 4));
    EXPECT_EQ(releases, 0);
  }
  for (int i = 0; i < 3000 && releases == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    static_cast<void>(runtime::allocate_on(*stream_, 4));
  }
  EXPECT_EQ(releases, 1);
}

TEST_F(CudaCaptureMemory, ForeignStreamOfACapturedStreamIsAccepted) {
  Capture capture(*stream_);
  EXPECT_NO_THROW(backend().foreign_stream(0, stream_->handle()));
  EXPECT_EQ(capture.end(), CUDA_SUCCESS);
}

TEST_F(CudaCaptureMemory, QueryingEventsAndOtherStreamsIsLegal) {
  const Ref<runtime::EventState> event = side_->record(false);
  Capture capture(*stream_);
  EXPECT_NO_THROW(event->query());
  EXPECT_NO_THROW(side_->query());
  EXPECT_NO_THROW(event->synchronize());
  EXPECT_NO_THROW(side_->synchronize());
  EXPECT_EQ(capture.end(), CUDA_SUCCESS);
}

}  // namespace
}  // namespace spanwise::cuda
