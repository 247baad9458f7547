// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Memory that work recorded into a graph uses: on fake GPUs, for which an event or a question on a
// stream that is being recorded is a fault.
#include "runtime/memory/graph_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <thread>

#include "runtime/memory/allocation.hpp"
#include "runtime/streams/ordering.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/memory.hpp"
#include "spanwise/stream.hpp"
#include "support/fake_devices.hpp"

namespace spanwise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GraphMemoryTest : public test::RuntimeTest {
 protected:
  Storage allocate_here() { return runtime::allocate_on(stream_.state(), 16); }
  void begin(std::uint64_t graph) { gpus().begin_capture(stream_.state(), graph); }
  void end() { gpus().end_capture(stream_.state()); }
  // What a later allocation does, without one.
  static void collect() { runtime::collect_graph_memory(); }
  int blocks() { return gpus().live_blocks(); }

  static inline std::uint64_t next_graph = 100;  // their numbers are never used again
  const std::uint64_t graph_ = next_graph++;
  const Stream stream_ = Stream::create(test::gpu);
};

TEST_F(GraphMemoryTest, TemporaryOfACaptureIsFreedWithTheGraph) {
  begin(graph_);
  allocate_here();
  EXPECT_EQ(blocks(), 1);
  end();
  collect();
  EXPECT_EQ(blocks(), 1) << "each launch of the graph writes there";
  gpus().destroy_graph(graph_);
  collect();
  EXPECT_EQ(blocks(), 0);
  EXPECT_THAT(gpus().take_log(), ElementsAre("allocate s1 16", "deallocate s1"));
}

TEST_F(GraphMemoryTest, ArrayUsedInACaptureAndDroppedLaterIsFreedWithTheGraph) {
  begin(graph_);
  Storage result = allocate_here();
  end();
  result = {};
  collect();
  EXPECT_EQ(blocks(), 1);
  gpus().destroy_graph(graph_);
  collect();
  EXPECT_EQ(blocks(), 0);
}

TEST_F(GraphMemoryTest, ArrayThatOutlivesTheGraphIsFreedAtOnce) {
  begin(graph_);
  Storage result = allocate_here();
  end();
  gpus().destroy_graph(graph_);
  result = {};
  EXPECT_EQ(blocks(), 0);
}

TEST_F(GraphMemoryTest, LaterAllocationFreesMemoryOfDestroyedGraphs) {
  begin(graph_);
  allocate_here();
  end();
  gpus().destroy_graph(graph_);
  const Storage next = allocate_here();
  EXPECT_EQ(blocks(), 1);
}

TEST_F(GraphMemoryTest, EarlierArrayDroppedDuringCaptureIsFreedWithTheGraph) {
  Storage early = allocate_here();
  begin(graph_);
  early = {};
  end();
  collect();
  EXPECT_EQ(blocks(), 1);
  gpus().destroy_graph(graph_);
  collect();
  EXPECT_EQ(blocks(), 0);
}

TEST_F(GraphMemoryTest, DroppingDuringCaptureQueuesNothingUntilLater) {
  const Stream reader = Stream::create(test::gpu);
  {
    const Array array = empty({4}, float32, test::gpu);
    order_use(stream_, array, true);
    order_use(reader, array, false);
    gpus().take_log();
    begin(graph_);
  }
  EXPECT_THAT(gpus().take_log(), IsEmpty());
  end();
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
    const Storage theirs = Storage::adopt(
        values, sizeof values, test::gpu,
        [](void*, void*, std::size_t, StreamUses&) noexcept { ++releases; }, nullptr);
    theirs.uses().set_producer(Ref<StreamIdentity>(&Stream::current(test::gpu).identity()));
    runtime::order_use(stream_.state(), theirs, false);
    begin(graph_);
  }
  EXPECT_EQ(releases, 0);
  end();
  collect();
  EXPECT_EQ(releases, 0);
  gpus().destroy_graph(graph_);
  collect();
  EXPECT_EQ(releases, 1);
}

TEST_F(GraphMemoryTest, MemoryThatNoGraphUsesIsFreedAtOnceDuringCapture) {
  const Array other = empty({4}, float32, test::gpu);
  begin(graph_);
  static_cast<void>(Array(other));
  {
    const Array fresh = empty({4}, float32, test::gpu);
  }
  EXPECT_EQ(blocks(), 1);
  end();
  gpus().destroy_graph(graph_);
}

TEST_F(GraphMemoryTest, CapturingStreamIsUsedOnlyAfterItsCapture) {
  const Stream reader = Stream::create(test::gpu);
  {
    const Array array = empty({4}, float32, test::gpu);
    order_use(reader, array, false);
    gpus().take_log();
    gpus().begin_capture(Stream::current(test::gpu).state(), 0);
  }
  collect();
  EXPECT_THAT(gpus().take_log(), IsEmpty());
  gpus().end_capture(Stream::current(test::gpu).state());
  collect();
  EXPECT_EQ(blocks(), 0);
}

TEST_F(GraphMemoryTest, TwoGraphsBothHaveToGo) {
  const Stream second = Stream::create(test::gpu);
  const std::uint64_t other = next_graph++;
  {
    const Array array = empty({4}, float32, test::gpu);
    order_use(stream_, array, false);
    order_use(second, array, false);
    begin(graph_);
    gpus().begin_capture(second.state(), other);
  }
  end();
  gpus().end_capture(second.state());
  gpus().destroy_graph(graph_);
  collect();
  EXPECT_EQ(blocks(), 1);
  gpus().destroy_graph(other);
  collect();
  EXPECT_EQ(blocks(), 0);
}

TEST_F(GraphMemoryTest, ThreadsMayDropArraysWhileAnotherCaptures) {
  begin(graph_);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this] {
      for (int round = 0; round < 100; ++round) {
        allocate_here();
        const Array eager = empty({4}, float32, test::gpu);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(blocks(), 400);
  end();
  gpus().destroy_graph(graph_);
  collect();
  EXPECT_EQ(blocks(), 0);
}

/// Memory of the C library that records whether a flush of launches preceded its release.
class FlushedSource final : public MemorySource {
 public:
  explicit FlushedSource(test::RecordingBackend& gpus) : gpus_(gpus) {}
  std::string name() const override { return "flushed"; }
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

TEST_F(GraphMemoryTest, DeferredLaunchesAreFlushedBeforeMemoryIsFreed) {
  const auto source = std::make_shared<FlushedSource>(gpus());
  use_memory_source(test::gpu, source);
  Storage storage = allocate_here();
  use_memory_source(test::gpu, nullptr);
  const int before = gpus().flushes();
  storage = {};
  EXPECT_GT(source->flushes_at_release, before);
}

TEST_F(GraphMemoryTest, BlockOfAnAllocatorIsFreedWithTheGraph) {
  const auto source = std::make_shared<FlushedSource>(gpus());
  use_memory_source(test::gpu, source);
  begin(graph_);
  allocate_here();
  end();
  use_memory_source(test::gpu, nullptr);
  collect();
  EXPECT_EQ(source->flushes_at_release, -1);
  gpus().destroy_graph(graph_);
  collect();
  EXPECT_GE(source->flushes_at_release, 0);
}

}  // namespace
}  // namespace spanwise
