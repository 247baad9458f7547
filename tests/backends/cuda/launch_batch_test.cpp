// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Deferred launches that are flushed into a stream together, as one CUDA graph.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>

#include "backends/cuda/device_context.hpp"
#include "cuda_device.hpp"
#include "runtime/allocation.hpp"
#include "spanwise/runtime/memory.hpp"

namespace spanwise::cuda {
namespace {

using runtime::LoadedKernel;
using runtime::StreamState;

class CudaLaunchBatchTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (IsSkipped()) return;
    setting_.emplace("graph");
    sums_.emplace(8 * sizeof(int));
    sums_->put(std::vector<int>(8, 0).data());
    batch_ = backend().launch_batch(0);
    kernel_ = load_add_to();
  }
  void TearDown() override { sums_.reset(); }

  int* sums() const { return static_cast<int*>(sums_->data()); }
  void add(int i, int amount, StreamState& stream) {
    launch(*kernel_, 32, stream, static_cast<const int*>(sums()), i, amount);
  }
  std::vector<int> sums_on_host() const { return sums_->get<int>(); }

  std::optional<ScopedLaunchConfig> setting_;
  std::optional<DeviceBytes> sums_;
  Ref<runtime::LaunchBatch> batch_;
  Ref<LoadedKernel> kernel_;
};

TEST_F(CudaLaunchBatchTest, EachIterationHasItsOwnArguments) {
  int expected = 0;
  for (int round = 1; round <= 50; ++round) {
    ASSERT_TRUE(batch_->open(*default_stream()));
    for (int i = 0; i < 5; ++i) add(i, round * (i + 1), *default_stream());
    batch_->close();
    expected += round;
    if (round % 7 != 0) continue;
    EXPECT_EQ(sums_on_host(), (std::vector<int>{expected, 2 * expected, 3 * expected, 4 * expected,
                                                5 * expected, 0, 0, 0}));
  }
}

// Batches whose arguments recur after `period` rounds keep executable graphs; then the period
// changes.
TEST_F(CudaLaunchBatchTest, RecurringArgumentsAreKeptPerLaunch) {
  std::vector<int> expected(8, 0);
  int round = 0;
  for (const int period : {1, 2, 3, 6, 2, 100}) {
    for (int i = 0; i < 40; ++i, ++round) {
      const int phase = i % period;
      ASSERT_TRUE(batch_->open(*default_stream()));
      add(phase % 7, 1 + phase, *default_stream());
      add(7, period == 100 ? round : phase, *default_stream());
      batch_->close();
      expected[static_cast<std::size_t>(phase % 7)] += 1 + phase;
      expected[7] += period == 100 ? round : phase;
    }
    EXPECT_EQ(sums_on_host(), expected) << "period " << period;
  }
}

// Each kernel copies what the previous one wrote, so another order gives other values.
TEST_F(CudaLaunchBatchTest, KernelsRunInTheirOrder) {
  for (int round = 1; round <= 20; ++round) {
    ASSERT_TRUE(batch_->open(*default_stream()));
    launch(*delayed_write(), 1, *default_stream(), static_cast<const int*>(sums()), round,
           ns_per_ms / 10);
    for (int i = 0; i + 1 < 8; ++i)
      launch(*copy_int(), 1, *default_stream(), static_cast<const int*>(sums() + i),
             static_cast<const int*>(sums() + i + 1));
    batch_->close();
    EXPECT_EQ(sums_on_host(), std::vector<int>(8, round));
  }
}

TEST_F(CudaLaunchBatchTest, IsNoLongerOpenedAfterManyBatchesOfOneLaunch) {
  int opened = 0;
  for (int round = 0; round < 200 && batch_->open(*default_stream()); ++round, ++opened) {
    if (round < 100 && round % 10 == 0) add(1, 0, *default_stream());
    add(0, 1, *default_stream());
    batch_->close();
  }
  EXPECT_GE(opened, 100);
  EXPECT_LT(opened, 200);
  EXPECT_EQ(sums_on_host()[0], opened);
}

TEST_F(CudaLaunchBatchTest, NumberAndKindOfLaunchesMayDiffer) {
  int expected = 0;
  for (int round = 0; round < 200; ++round) {
    ASSERT_TRUE(batch_->open(*default_stream()));
    const int length = round % 40 < 20 ? 3 : 1 + round % 6;
    for (int i = 0; i < length; ++i) {
      if (round % 60 > 50 && i == 1)
        launch(*copy_int(), 1, *default_stream(), static_cast<const int*>(sums()),
               static_cast<const int*>(sums() + 1));
      add(0, 1, *default_stream());
    }
    batch_->close();
    expected += length;
    if (round % 9 != 0) continue;
    EXPECT_EQ(sums_on_host()[0], expected) << round;
  }
  EXPECT_EQ(sums_on_host()[0], expected);
}

TEST_F(CudaLaunchBatchTest, LongBatchesAreSubmittedInParts) {
  for (int round = 1; round <= 6; ++round) {
    ASSERT_TRUE(batch_->open(*default_stream()));
    for (int i = 0; i < 1000; ++i) add(i % 8, 1, *default_stream());
    batch_->close();
    EXPECT_EQ(sums_on_host(), std::vector<int>(8, 125 * round));
  }
}

// Other work, on this stream or another, is queued after the kernels of the batch.
TEST_F(CudaLaunchBatchTest, OtherWorkRunsAfterDeferredLaunches) {
  const Ref<StreamState> other = backend().create_stream(0);
  for (int round = 1; round <= 30; ++round) {
    ASSERT_TRUE(batch_->open(*default_stream()));
    add(0, 1, *default_stream());
    add(0, 1, *default_stream());
    int got = 0;
    backend().download(sums(), &got, 4, *default_stream());
    EXPECT_EQ(got, 4 * round - 2);
    launch(*delayed_write(), 1, *default_stream(), static_cast<const int*>(sums() + 1), round,
           ns_per_ms / 10);
    launch(*copy_int(), 1, *default_stream(), static_cast<const int*>(sums() + 1),
           static_cast<const int*>(sums() + 2));
    other->wait(*default_stream()->record(false));
    launch(*copy_int(), 1, *other, static_cast<const int*>(sums() + 2),
           static_cast<const int*>(sums() + 3));
    other->synchronize();
    backend().download(sums() + 3, &got, 4, *other);
    EXPECT_EQ(got, round);
    add(0, 1, *default_stream());
    add(0, 1, *default_stream());
    default_stream()->synchronize();
    batch_->close();
  }
  EXPECT_EQ(sums_on_host()[0], 120);
}

// A freed block may be reused by another thread at once.
TEST_F(CudaLaunchBatchTest, MemoryIsFreedAfterItsKernels) {
  for (int round = 1; round <= 30; ++round) {
    void* scratch = backend().allocate(0, 256, *default_stream());
    ASSERT_TRUE(batch_->open(*default_stream()));
    launch(*delayed_write(), 1, *default_stream(), static_cast<const int*>(scratch), round,
           ns_per_ms / 20);
    launch(*copy_int(), 1, *default_stream(), static_cast<const int*>(scratch),
           static_cast<const int*>(sums()));
    backend().deallocate(0, scratch, 256, *default_stream());
    std::thread([&] {
      void* reused = backend().allocate(0, 256, *default_stream());
      launch(*delayed_write(), 1, *default_stream(), static_cast<const int*>(reused), -1, 0LL);
      backend().deallocate(0, reused, 256, *default_stream());
    }).join();
    batch_->close();
    EXPECT_EQ(sums_on_host()[0], round);
  }
}

// Writes 7 to each int on the legacy stream, as another library may when memory that was released
// in the order of this stream is reused.
void write_sevens(void* data, std::size_t bytes) {
  const ContextGuard guard(DeviceContext::of(0));
  EXPECT_EQ(driver().memset_d32_async(reinterpret_cast<CUdeviceptr>(data), 7, bytes / 4,
                                      CU_STREAM_LEGACY),
            CUDA_SUCCESS);
}

/// A memory source of one block, which it overwrites when the block is returned.
class ReusingSource final : public MemorySource {
 public:
  explicit ReusingSource(void* data) : data_(data) {}
  std::string name() const override { return "reusing"; }
  Block allocate(Device, std::size_t, std::uintptr_t) override { return {data_, nullptr}; }
  void deallocate(Device, const Block& block, std::size_t bytes) noexcept override {
    write_sevens(block.data, bytes);
  }

 private:
  void* data_;
};

TEST_F(CudaLaunchBatchTest, BlockOfAMemorySourceIsFreedAfterItsKernels) {
  DeviceBytes block(32);
  for (int round = 1; round <= 30; ++round) {
    use_memory_source(gpu, std::make_shared<ReusingSource>(block.data()));
    Storage scratch = runtime::allocate_on(*default_stream(), 32);
    use_memory_source(gpu, nullptr);
    ASSERT_TRUE(batch_->open(*default_stream()));
    launch(*delayed_write(), 1, *default_stream(), static_cast<const int*>(scratch.data()), round,
           0LL);
    launch(*copy_int(), 1, *default_stream(), static_cast<const int*>(scratch.data()),
           static_cast<const int*>(sums()));
    scratch = Storage{};
    batch_->close();
    EXPECT_EQ(sums_on_host()[0], round);
    EXPECT_EQ(block.get<int>()[0], 7) << "a held kernel wrote to the block after its release";
  }
}

TEST_F(CudaLaunchBatchTest, OwnerOnTheSameStreamIsReleasedAfterItsKernels) {
  DeviceBytes block(32);
  const ReleaseFn release = [](void*, void* data, std::size_t bytes, StreamUses&) noexcept {
    write_sevens(data, bytes);
  };
  for (int round = 1; round <= 30; ++round) {
    Storage foreign = Storage::adopt(block.data(), 32, gpu, release, nullptr);
    foreign.uses().set_producer(default_stream());
    ASSERT_TRUE(batch_->open(*default_stream()));
    launch(*delayed_write(), 1, *default_stream(), static_cast<const int*>(foreign.data()), round,
           0LL);
    launch(*copy_int(), 1, *default_stream(), static_cast<const int*>(foreign.data()),
           static_cast<const int*>(sums()));
    foreign = Storage{};
    batch_->close();
    EXPECT_EQ(sums_on_host()[0], round);
    EXPECT_EQ(block.get<int>()[0], 7) << "a held kernel wrote to the memory after its release";
  }
}

TEST_F(CudaLaunchBatchTest, OtherStreamsAndThreadsLaunchImmediately) {
  const Ref<StreamState> other = backend().create_stream(0);
  ASSERT_TRUE(batch_->open(*default_stream()));
  add(0, 1, *other);
  other->synchronize();
  std::thread([&] {
    add(1, 1, *default_stream());
    default_stream()->synchronize();
    EXPECT_EQ(sums_on_host()[1], 1);
  }).join();
  batch_->close();
  EXPECT_EQ(sums_on_host()[0], 1);
}

TEST_F(CudaLaunchBatchTest, OneBatchIsOpenAtATime) {
  const Ref<runtime::LaunchBatch> second = backend().launch_batch(0);
  ASSERT_TRUE(batch_->open(*default_stream()));
  EXPECT_FALSE(second->open(*default_stream()));
  batch_->close();
  EXPECT_TRUE(second->open(*default_stream()));
  second->close();
}

TEST_F(CudaLaunchBatchTest, IsNotOpenedForBlockingOrDirectLaunches) {
  {
    const ScopedLaunchConfig direct("direct");
    EXPECT_FALSE(batch_->open(*default_stream()));
  }
  config::set("launch_blocking", "1");
  EXPECT_FALSE(batch_->open(*default_stream()));
  config::set("launch_blocking", "0");
}

TEST_F(CudaLaunchBatchTest, KernelsMayBeDestroyedBeforeTheBatch) {
  for (int round = 0; round < 20; ++round) {
    const Ref<LoadedKernel> first = load_add_to(), second = load_add_to();
    const auto* data = static_cast<const int*>(sums());
    ASSERT_TRUE(batch_->open(*default_stream()));
    launch(*first, 32, *default_stream(), data, 0, 1);
    launch(*second, 32, *default_stream(), data, 1, 2);
    batch_->close();
  }
  const std::vector<int> got = sums_on_host();
  EXPECT_EQ(got[0], 20);
  EXPECT_EQ(got[1], 40);
}

}  // namespace
}  // namespace spanwise::cuda
