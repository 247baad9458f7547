// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Memory that is used by work captured into a graph. The fake GPUs count it as a fault if an event
// is recorded on a stream that is captured, or the stream is queried.
#include "runtime/graph_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <thread>

#include "runtime/allocation.hpp"
#include "runtime/stream_order.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/memory.hpp"
#include "spanwise/runtime/stream.hpp"
#include "support/fake_devices.hpp"

namespace spanwise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GraphMemoryTest : public test::RuntimeTest {
 protected:
  Storage allocate_on_stream() { return runtime::allocate_on(stream_.state(), 16); }
  void begin_capture(std::uint64_t graph) { gpus().begin_capture(stream_.state(), graph); }
  void end_capture() { gpus().end_capture(stream_.state()); }
  // Frees the memory of destroyed graphs, as the next allocation does.
  static void collect() { runtime::collect_graph_memory(); }
  int blocks() { return gpus().live_blocks(); }

  static inline std::uint64_t next_graph = 100;  // CUDA does not reuse the ids of graphs, either
  const std::uint64_t graph_ = next_graph++;
  const Stream stream_ = Stream::create(test::gpu);
};

TEST_F(GraphMemoryTest, TemporaryOfACaptureIsFreedWithTheGraph) {
  begin_capture(graph_);
  allocate_on_stream();
  EXPECT_EQ(blocks(), 1);
  end_capture();
  collect();
  EXPECT_EQ(blocks(), 1) << "each launch of the graph writes there";
  gpus().destroy_graph(graph_);
  collect();
  EXPECT_EQ(blocks(), 0);
  EXPECT_THAT(gpus().take_log(), ElementsAre("allocate s1 16", "deallocate s1"));
}

TEST_F(GraphMemoryTest, ArrayUsedInACaptureAndDroppedLaterIsFreedWithTheGraph) {
  begin_capture(graph_);
  Storage result = allocate_on_stream();
  end_capture();
  result = {};
  collect();
  EXPECT_EQ(blocks(), 1);
  gpus().destroy_graph(graph_);
  collect();
  EXPECT_EQ(blocks(), 0);
}

TEST_F(GraphMemoryTest, ArrayThatOutlivesTheGraphIsFreedAtOnce) {
  begin_capture(graph_);
  Storage result = allocate_on_stream();
  end_capture();
  gpus().destroy_graph(graph_);
  result = {};
  EXPECT_EQ(blocks(), 0);
}

TEST_F(GraphMemoryTest, LaterAllocationFreesMemoryOfDestroyedGraphs) {
  begin_capture(graph_);
  allocate_on_stream();
  end_capture();
  gpus().destroy_graph(graph_);
  const Storage next = allocate_on_stream();
  EXPECT_EQ(blocks(), 1);
}

TEST_F(GraphMemoryTest, EarlierArrayDroppedDuringCaptureIsFreedWithTheGraph) {
  Storage early = allocate_on_stream();
  begin_capture(graph_);
  early = {};
  end_capture();
  collect();
  EXPECT_EQ(blocks(), 1);
  gpus().destroy_graph(graph_);
  collect();
  EXPECT_EQ(blocks(), 0);
}

TEST_F(GraphMemoryTest, DroppingDuringCaptureQueuesWorkOnlyAfterTheGraphIsDestroyed) {
  const Stream reader = Stream::create(test::gpu);
  {
    const Array array = empty({4}, float32, test::gpu);
    order_use(stream_, array, true);
    order_use(reader, array, false);
    gpus().take_log();
    begin_capture(graph_);
  }
  EXPECT_THAT(gpus().take_log(), IsEmpty());
  end_capture();
  gpus().destroy_graph(graph_);
  collect();
  EXPECT_THAT(gpus().take_log(), ElementsAre("record s1 e3", "wait d0 e3", "record s2 e4",
                                             "wait d0 e4", "deallocate d0"));
}

TEST_F(GraphMemoryTest, ForeignOwnerIsReleasedWhenTheGraphIsDestroyed) {
  static int releases;
  releases = 0;
  float values[4]{};
  {
    const Storage foreign = Storage::adopt(
        values, sizeof values, test::gpu,
        [](void*, void*, std::size_t, StreamUses&) noexcept { ++releases; }, nullptr);
    foreign.uses().set_producer(Ref<StreamIdentity>(&Stream::current(test::gpu).identity()));
    runtime::order_use(stream_.state(), foreign, false);
    begin_capture(graph_);
  }
  EXPECT_EQ(releases, 0);
  end_capture();
  collect();
  EXPECT_EQ(releases, 0);
  gpus().destroy_graph(graph_);
  collect();
  EXPECT_EQ(releases, 1);
}

TEST_F(GraphMemoryTest, MemoryThatNoGraphUsesIsFreedAtOnceDuringCapture) {
  const Array earlier = empty({4}, float32, test::gpu);
  begin_capture(graph_);
  static_cast<void>(Array(earlier));  // a copy that is dropped; `earlier` still uses the memory
  {
    const Array fresh = empty({4}, float32, test::gpu);
  }
  EXPECT_EQ(blocks(), 1);
  end_capture();
  gpus().destroy_graph(graph_);
}

TEST_F(GraphMemoryTest, StreamUnusableDuringACaptureIsUsedOnlyAfterIt) {
  const Stream reader = Stream::create(test::gpu);
  {
    const Array array = empty({4}, float32, test::gpu);
    order_use(reader, array, false);
    gpus().take_log();
    gpus().begin_capture(Stream::current(test::gpu).state(), 0);  // another stream is captured
  }
  collect();
  EXPECT_THAT(gpus().take_log(), IsEmpty());
  gpus().end_capture(Stream::current(test::gpu).state());
  collect();
  EXPECT_EQ(blocks(), 0);
}

TEST_F(GraphMemoryTest, MemoryOfTwoGraphsIsFreedAfterBothAreDestroyed) {
  const Stream second = Stream::create(test::gpu);
  const std::uint64_t other = next_graph++;
  {
    const Array array = empty({4}, float32, test::gpu);
    order_use(stream_, array, false);
    order_use(second, array, false);
    begin_capture(graph_);
    gpus().begin_capture(second.state(), other);
  }
  end_capture();
  gpus().end_capture(second.state());
  gpus().destroy_graph(graph_);
  collect();
  EXPECT_EQ(blocks(), 1);
  gpus().destroy_graph(other);
  collect();
  EXPECT_EQ(blocks(), 0);
}

TEST_F(GraphMemoryTest, ThreadsMayDropArraysWhileAnotherCaptures) {
  begin_capture(graph_);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this] {
      for (int round = 0; round < 100; ++round) {
        allocate_on_stream();
        const Array eager = empty({4}, float32, test::gpu);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(blocks(), 400);
  end_capture();
  gpus().destroy_graph(graph_);
  collect();
  EXPECT_EQ(blocks(), 0);
}

/// Memory of aligned_alloc(). Records the number of flushes of launch batches before the last
/// release of a block; -1 before any release.
class FlushCountingSource final : public MemorySource {
 public:
  explicit FlushCountingSource(test::RecordingBackend& gpus) : gpus_(gpus) {}
  std::string name() const override { return "flush counting"; }
  Block allocate(Device, std::size_t bytes, std::uintptr_t) override {
    return {std::aligned_alloc(256, (bytes + 255) / 256 * 256), nullptr};
  }
  void deallocate(Device, const Block& block, std::size_t) noexcept override {
    flushes_at_release = gpus_.flushes();
    std::free(block.data);
  }
  int flushes_at_release = -1;

 private:
  test::RecordingBackend& gpus_;
};

TEST_F(GraphMemoryTest, LaunchBatchesAreFlushedBeforeMemoryIsFreed) {
  const auto source = std::make_shared<FlushCountingSource>(gpus());
  use_memory_source(test::gpu, source);
  Storage storage = allocate_on_stream();
  use_memory_source(test::gpu, nullptr);
  const int before = gpus().flushes();
  storage = {};
  EXPECT_GT(source->flushes_at_release, before);
}

TEST_F(GraphMemoryTest, BlockOfAMemorySourceIsFreedWithTheGraph) {
  const auto source = std::make_shared<FlushCountingSource>(gpus());
  use_memory_source(test::gpu, source);
  begin_capture(graph_);
  allocate_on_stream();
  end_capture();
  use_memory_source(test::gpu, nullptr);
  collect();
  EXPECT_EQ(source->flushes_at_release, -1);
  gpus().destroy_graph(graph_);
  collect();
  EXPECT_GE(source->flushes_at_release, 0);
}

}  // namespace
}  // namespace spanwise
