// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Kernels launched as CUDA graphs of one node, and the decision to do so.
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "backends/cuda/device_context.hpp"
#include "backends/cuda/launch/launch_tuner.hpp"
#include "cuda_device.hpp"

namespace spanwise::cuda {
namespace {

using runtime::LoadedKernel;
using runtime::StreamState;

using Time = LaunchTuner::Time;

// How `launches` launches were made that take `direct` or `graph` nanoseconds; other work delays
// every third one.
struct LaunchCounts {
  int direct = 0, graph = 0, timed = 0;
};
LaunchCounts run_launches(LaunchTuner& tuner, int launches, int direct, int graph) {
  LaunchCounts counts;
  for (int i = 0; i < launches; ++i) {
    const auto [path, is_timed] = tuner.plan();
    const bool is_direct = path == LaunchPath::direct;
    ++(is_direct ? counts.direct : counts.graph);
    counts.timed += is_timed;
    if (is_timed) tuner.record(path, Time((is_direct ? direct : graph) + (i % 3 == 0 ? 50000 : 0)));
  }
  return counts;
}

// `direct` and `graph` are the times of a launch in nanoseconds.
void expect_decision(int direct, int graph, LaunchPath path) {
  const ScopedLaunchConfig automatic("auto");
  LaunchTuner tuner;
  EXPECT_TRUE(tuner.plan().is_timed);
  EXPECT_EQ(tuner.plan().path, LaunchPath::direct);
  run_launches(tuner, 21, direct, graph);
  EXPECT_EQ(tuner.plan().path, path);
  EXPECT_FALSE(tuner.plan().is_timed);
}

TEST(CudaLaunchTuner, UsesGraphsWhenMuchFaster) {
  SKIP_UNDER_TOOLS("kernel_launch \"auto\" means direct launches");
  expect_decision(3000, 1400, LaunchPath::graph);
}
TEST(CudaLaunchTuner, LaunchesDirectlyWhenGraphsGainLittle) {
  expect_decision(3000, 2700, LaunchPath::direct);
}
TEST(CudaLaunchTuner, LaunchesDirectlyWhenGraphsStartTooLate) {
  expect_decision(1900, 1000, LaunchPath::direct);
}

TEST(CudaLaunchTuner, MakesNoGraphWhereDirectLaunchesAreQuick) {
  const ScopedLaunchConfig automatic("auto");
  LaunchTuner tuner;
  EXPECT_EQ(run_launches(tuner, 10000, 1900, 1000).graph, 0);
}

TEST(CudaLaunchTuner, OneUntypicalSampleDecidesNothing) {
  SKIP_UNDER_TOOLS("kernel_launch \"auto\" means direct launches");
  const ScopedLaunchConfig automatic("auto");
  LaunchTuner tuner;
  tuner.record(LaunchPath::direct, Time(100));
  run_launches(tuner, 20, 3000, 1400);
  EXPECT_EQ(tuner.plan().path, LaunchPath::graph);
}

TEST(CudaLaunchTuner, FollowsTheProgramsLaterLaunches) {
  SKIP_UNDER_TOOLS("kernel_launch \"auto\" means direct launches");
  const ScopedLaunchConfig automatic("auto");
  LaunchTuner tuner;
  // First the queue of the GPU is full, where both take the same time.
  const LaunchCounts full = run_launches(tuner, 1000, 90000, 90000);
  EXPECT_LT(full.graph, 50);
  run_launches(tuner, 1000, 3000, 1400);
  EXPECT_EQ(run_launches(tuner, 50, 3000, 1400).graph, 50);
  // Measurements become rare.
  run_launches(tuner, 100000, 3000, 1400);
  EXPECT_LT(run_launches(tuner, 100000, 3000, 1400).timed, 200);
  // Then another program slows graphs down.
  run_launches(tuner, 20000, 3000, 2900);
  EXPECT_GT(run_launches(tuner, 1000, 3000, 2900).direct, 900);
}

TEST(CudaLaunchTuner, LaunchesDirectlyWhereThereIsNoGraph) {
  SKIP_UNDER_TOOLS("kernel_launch \"auto\" means direct launches");
  const ScopedLaunchConfig automatic("auto");
  LaunchTuner tuner;
  int tried = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto [path, is_timed] = tuner.plan();
    if (path == LaunchPath::direct && is_timed) tuner.record(path, Time(3000));
    if (path == LaunchPath::graph) ++tried, tuner.record_refusal();
  }
  EXPECT_GT(tried, 8);
  EXPECT_LT(tried, 200);
}

TEST(CudaLaunchTuner, ObeysTheSetting) {
  LaunchTuner tuner;
  {
    const ScopedLaunchConfig graph("graph");
    EXPECT_EQ(tuner.plan().path, LaunchPath::graph);
    EXPECT_FALSE(tuner.plan().is_timed);
  }
  {
    const ScopedLaunchConfig direct("direct");
    EXPECT_EQ(tuner.plan().path, LaunchPath::direct);
    EXPECT_FALSE(tuner.plan().is_timed);
  }
  EXPECT_THROW(config::set("kernel_launch", "queue"), ArgumentError);
}

// More launches than a kernel needs to get a graph.
constexpr int launches = 300;

class CudaKernelGraphs : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (!IsSkipped()) setting_.emplace("graph");
  }

 private:
  std::optional<ScopedLaunchConfig> setting_;
};

TEST_F(CudaKernelGraphs, EachLaunchHasItsOwnArguments) {
  DeviceBytes cells(launches * 4);
  cells.put(std::vector<int>(launches, 0).data());
  const Ref<LoadedKernel> kernel = load_add_to();
  const auto* address = static_cast<int*>(cells.data());
  for (int i = 0; i < launches; ++i) launch(*kernel, 32, *default_stream(), address, i, i + 1);
  const std::vector<int> got = cells.get<int>();
  for (int i = 0; i < launches; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], i + 1) << i;
}

TEST_F(CudaKernelGraphs, EachLaunchHasItsOwnExtents) {
  const Ref<LoadedKernel> kernel = load_kernel(
      "__global__ void extents(int* cells, int cell) {\n"
      "  extern __shared__ int shared[];\n"
      "  unsigned bytes;\n  asm(\"mov.u32 %0, %%dynamic_smem_size;\" : \"=r\"(bytes));\n"
      "  shared[0] = 1;\n"
      "  if (threadIdx.x + blockIdx.x + blockIdx.y == 0)\n"
      "    cells[cell] = gridDim.x * 1000000 + gridDim.y * 10000 + blockDim.x + (int)bytes;\n}\n",
      "extents");
  DeviceBytes cells(launches * 4);
  void* address = cells.data();
  for (int i = 0; i < launches; ++i) {
    void* arguments[] = {&address, &i};
    kernel->launch({1 + i % 3, 1 + i % 5}, {32 + i % 7}, 128 * (1 + i % 400), *default_stream(),
                   arguments);
  }
  const std::vector<int> got = cells.get<int>();
  for (int i = 0; i < launches; ++i)
    EXPECT_EQ(got[static_cast<std::size_t>(i)],
              (1 + i % 3) * 1000000 + (1 + i % 5) * 10000 + 32 + i % 7 + 128 * (1 + i % 400));
}

TEST_F(CudaKernelGraphs, RepeatedLaunchRunsAgain) {
  DeviceBytes cell(4);
  cell.put(std::vector<int>{0}.data());
  const Ref<LoadedKernel> kernel = load_add_to();
  const auto* address = static_cast<int*>(cell.data());
  for (int i = 0; i < 100 * launches; ++i) launch(*kernel, 32, *default_stream(), address, 0, 1);
  EXPECT_EQ(cell.get<int>()[0], 100 * launches);
}

TEST_F(CudaKernelGraphs, WorkOfAStreamStaysInItsOrder) {
  DeviceBytes cells(8);
  const auto* from = static_cast<int*>(cells.data());
  const auto* to = from + 1;
  for (int i = 1; i <= launches; ++i) {
    launch(*delayed_write(), 1, *default_stream(), from, i, ns_per_ms / 50);
    launch(*copy_int(), 1, *default_stream(), from, to);
    if (i % 50 != 0) continue;
    EXPECT_EQ(cells.get<int>()[1], i);
  }
}

// The legacy stream and a stream that another library made without the non-blocking flag wait for
// each other without events.
TEST_F(CudaKernelGraphs, TheLegacyStreamIsOrderedWithBlockingOnes) {
  const ContextGuard guard(DeviceContext::of(0));
  CUstream foreign = nullptr;
  ASSERT_EQ(driver().stream_create(&foreign, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  {
    const Ref<StreamState> blocking =
        backend().foreign_stream(0, reinterpret_cast<std::uintptr_t>(foreign));
    DeviceBytes cells(8);
    const auto* from = static_cast<int*>(cells.data());
    const auto* to = from + 1;
    for (int i = 1; i <= launches; ++i) {
      StreamState& first = i % 2 != 0 ? *blocking : *default_stream();
      StreamState& second = i % 2 != 0 ? *default_stream() : *blocking;
      launch(*delayed_write(), 1, first, from, i, ns_per_ms / 50);
      launch(*copy_int(), 1, second, from, to);
      EXPECT_EQ(cells.get<int>()[1], i);
    }
  }
  EXPECT_EQ(driver().stream_destroy(foreign), CUDA_SUCCESS);
}

TEST_F(CudaKernelGraphs, StreamsRunConcurrently) {
  SKIP_UNDER_TOOLS("graphs of two streams run one after the other");
  const Ref<StreamState> a = backend().create_stream(0), b = backend().create_stream(0);
  DeviceBytes cells(8);
  auto* address = static_cast<int*>(cells.data());
  for (int i = 0; i < launches; ++i) {  // so that each has a graph of both kernels
    launch(*delayed_write(), 1, *a, address, 0, 0LL);
    launch(*delayed_write(), 1, *b, address, 0, 0LL);
  }
  backend().synchronize(0);
  launch(*delayed_write(), 1, *a, address, 7, 500 * ns_per_ms);
  launch(*delayed_write(), 1, *b, address + 1, 8, 0LL);
  b->synchronize();
  EXPECT_FALSE(a->query()) << "the second stream waited for the first one's kernel";
  a->synchronize();
  EXPECT_EQ(cells.get<int>(), (std::vector<int>{7, 8}));
}

TEST_F(CudaKernelGraphs, ThreadsMayShareAKernelAndAStream) {
  DeviceBytes cells(16);
  cells.put(std::vector<int>(4, 0).data());
  const Ref<LoadedKernel> kernel = load_add_to();
  const auto* address = static_cast<int*>(cells.data());
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id)
    threads.emplace_back([&, id] {
      for (int i = 0; i < 10 * launches; ++i)
        launch(*kernel, 32, *default_stream(), address, id, id + 1);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cells.get<int>(),
            (std::vector<int>{10 * launches, 20 * launches, 30 * launches, 40 * launches}));
}

TEST_F(CudaKernelGraphs, KernelMayBeDestroyedWhileItsLaunchesAreQueued) {
  DeviceBytes cell(4);
  cell.put(std::vector<int>{0}.data());
  const auto* address = static_cast<int*>(cell.data());
  {
    const Ref<LoadedKernel> kernel = load_add_to();
    DeviceBytes other(4);
    launch(*delayed_write(), 1, *default_stream(), static_cast<int*>(other.data()), 1,
           50 * ns_per_ms);
    for (int i = 0; i < launches; ++i) launch(*kernel, 32, *default_stream(), address, 0, 1);
  }
  EXPECT_EQ(cell.get<int>()[0], launches);
}

TEST_F(CudaKernelGraphs, KernelsRunOnManyStreams) {
  DeviceBytes cell(4);
  cell.put(std::vector<int>{0}.data());
  const Ref<LoadedKernel> kernel = load_add_to();
  const auto* address = static_cast<int*>(cell.data());
  std::vector<Ref<StreamState>> streams;
  for (int i = 0; i < 12; ++i) streams.push_back(backend().create_stream(0));
  for (int i = 0; i < launches; ++i)
    for (const Ref<StreamState>& stream : streams) launch(*kernel, 32, *stream, address, 0, 1);
  backend().synchronize(0);
  EXPECT_EQ(cell.get<int>()[0], 12 * launches);
}

}  // namespace
}  // namespace spanwise::cuda
