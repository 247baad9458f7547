// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdint>
#include <thread>

#include "backends/cuda/device_context.hpp"
#include "backends/cuda/driver.hpp"
#include "cuda_device.hpp"
#include "spanwise/runtime/config.hpp"

namespace spanwise::cuda {
namespace {

using testing::HasSubstr;

class CudaMemory : public CudaTest {};
// Tests that use most of the GPU's memory; ctest runs them while no other test runs.
class CudaFullMemory : public CudaTest {};

TEST_F(CudaMemory, BlocksAreAlignedAndDisjoint) {
  const DeviceBytes a(1), b(1000), c(0);
  for (const DeviceBytes* block : {&a, &b, &c}) {
    ASSERT_NE(block->data(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block->data()) % 256, 0u);
  }
  EXPECT_NE(a.data(), b.data());
  EXPECT_NE(a.data(), c.data());
}

TEST_F(CudaMemory, StatisticsFollowAllocations) {
  constexpr std::int64_t size = 32 << 20;
  backend().synchronize(0);
  const runtime::MemoryInfo before = backend().memory(0);
  {
    const DeviceBytes block(size);
    const runtime::MemoryInfo during = backend().memory(0);
    EXPECT_GE(during.used, before.used + size);
    EXPECT_GE(during.held, during.used);
    EXPECT_GT(during.total, during.free);
  }
  backend().synchronize(0);
  EXPECT_EQ(backend().memory(0).used, before.used);
}

TEST_F(CudaMemory, PoolReusesFreedBlocks) {
  constexpr std::int64_t size = 64 << 20;
  {
    const DeviceBytes block(size);
  }
  backend().synchronize(0);
  const std::int64_t held = backend().memory(0).held;
  EXPECT_GE(held, size);
  {
    const DeviceBytes block(size);
  }
  EXPECT_EQ(backend().memory(0).held, held);
}

TEST_F(CudaFullMemory, OutOfMemoryErrorGivesRequestedFreeAndCachedBytes) {
  const std::size_t size = static_cast<std::size_t>(backend().memory(0).total) * 2;
  try {
    backend().allocate(0, size, *default_stream());
    FAIL() << "allocated twice the memory of the device";
  } catch (const OutOfMemoryError& error) {
    EXPECT_EQ(error.code(), 2);
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(size) + " bytes"));
    EXPECT_THAT(error.what(), HasSubstr("cuda:0"));
    EXPECT_THAT(error.what(), HasSubstr("are free"));
    EXPECT_THAT(error.what(), HasSubstr("pool holds"));
  }
  const DeviceBytes still_works(1024);
  EXPECT_NE(still_works.data(), nullptr);
}

TEST_F(CudaFullMemory, FragmentedCacheIsFreedForALargeBlock) {
  const std::int64_t free = backend().memory(0).free;
  if (free < (std::int64_t{4} << 30)) GTEST_SKIP() << "less than 4 GiB are free";
  std::vector<std::unique_ptr<DeviceBytes>> pieces;
  const auto piece = static_cast<std::size_t>(free / 16);
  try {
    for (int i = 0; i < 12; ++i) pieces.push_back(std::make_unique<DeviceBytes>(piece));
    pieces.clear();
    const DeviceBytes large(piece * 13);
    EXPECT_NE(large.data(), nullptr);
  } catch (const OutOfMemoryError&) {
    // What other processes took meanwhile is neither free nor held by this process's pool.
    const runtime::MemoryInfo now = backend().memory(0);
    if (now.free + now.held >= static_cast<std::int64_t>(piece * 13)) throw;
    GTEST_SKIP() << "another process took the device's memory during the test";
  }
}

TEST_F(CudaMemory, FreedMemoryIsReusedInStreamOrder) {
  // The block is freed while a kernel that writes to it is still running; its next user
  // must run after that kernel.
  constexpr std::size_t size = 8 << 20;
  const Ref<runtime::LoadedKernel> writer = delayed_write();
  const Ref<runtime::StreamState> stream = backend().create_stream(0),
                                  other = backend().create_stream(0);
  void* first = backend().allocate(0, size, *stream);
  launch(*writer, 1, *stream, static_cast<int*>(first), 7, 50 * ns_per_ms);
  backend().deallocate(0, first, size, *stream);
  void* second = backend().allocate(0, size, *other);
  const int mine = 42;
  backend().upload(&mine, second, sizeof mine, *other);
  backend().synchronize(0);
  int got = 0;
  backend().download(second, &got, sizeof got, *other);
  EXPECT_EQ(got, 42);
  backend().deallocate(0, second, size, *other);
}

TEST_F(CudaMemory, FreedSmallBlocksAreReusedOnlyOnTheirStream) {
  if (!config::get_bool("keep_blocks")) GTEST_SKIP() << "config keep_blocks is off";
  Ref<runtime::StreamState> stream = backend().create_stream(0);
  const Ref<runtime::StreamState> other = backend().create_stream(0);
  backend().synchronize(0);
  const std::int64_t used = backend().memory(0).used;
  void* first = backend().allocate(0, 1000, *stream);
  EXPECT_EQ(backend().memory(0).used, used + 1024);
  backend().deallocate(0, first, 1000, *stream);
  EXPECT_EQ(backend().memory(0).used, used) << "cached blocks do not count as used";
  void* elsewhere = backend().allocate(0, 1000, *other);
  EXPECT_NE(elsewhere, first) << "the other stream has not waited for this one";
  backend().deallocate(0, elsewhere, 1000, *other);
  void* second = backend().allocate(0, 700, *stream);
  EXPECT_EQ(second, first);
  backend().deallocate(0, second, 700, *stream);
  stream = {};
  backend().synchronize(0);
  EXPECT_EQ(backend().memory(0).used, used);
}

TEST_F(CudaMemory, ManyThreadsAllocateAndFree) {
  std::vector<std::thread> threads;
  std::atomic<int> mismatches{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::vector<int> values(static_cast<std::size_t>(1 + t * 1000 + i), t * 1000 + i);
        DeviceBytes block(values.size() * sizeof(int));
        block.put(values.data());
        mismatches += block.get<int>() != values;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(mismatches, 0);
}

TEST_F(CudaMemory, PointerQueriesGiveTheDevice) {
  const DeviceBytes block(64);
  EXPECT_EQ(backend().device_of(block.data()), gpu);
  EXPECT_EQ(backend().device_of(static_cast<char*>(block.data()) + 17), gpu);
  int local = 0;
  EXPECT_EQ(backend().device_of(&local), std::nullopt);
  EXPECT_EQ(backend().device_of(nullptr), std::nullopt);
  EXPECT_FALSE(backend().context_of(&local).has_value());

  CUcontext context = nullptr;
  ASSERT_EQ(driver().device_primary_ctx_retain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(driver().ctx_push_current(context), CUDA_SUCCESS);
  void* pinned = nullptr;
  ASSERT_EQ(driver().mem_host_alloc(&pinned, 64, 0), CUDA_SUCCESS);
  EXPECT_EQ(backend().device_of(pinned), Device(DeviceKind::cuda_host, 0));
  CUdeviceptr managed = 0;
  auto* allocate_managed =
      driver_function<CUresult(CUdeviceptr*, std::size_t, unsigned)>("cuMemAllocManaged");
  ASSERT_EQ(allocate_managed(&managed, 64, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  EXPECT_EQ(backend().device_of(reinterpret_cast<void*>(managed)),
            Device(DeviceKind::cuda_managed, 0));
  driver().mem_free(managed);
  driver_function<CUresult(void*)>("cuMemFreeHost")(pinned);
  driver().ctx_pop_current(&context);
}

// A context beside the primary one, as pycuda.autoinit makes it.
TEST_F(CudaMemory, MemoryOfAnotherContextIsRecognized) {
  auto* create = driver_function<CUresult(CUcontext*, unsigned, CUdevice)>("cuCtxCreate_v2");
  auto* destroy = driver_function<CUresult(CUcontext)>("cuCtxDestroy_v2");
  const DriverApi& api = driver();
  CUcontext created = nullptr;
  ASSERT_EQ(create(&created, 0, 0), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  ASSERT_EQ(api.mem_alloc(&memory, 1000), CUDA_SUCCESS);
  const auto current = backend().current_context();
  const auto of_memory = backend().context_of(reinterpret_cast<void*>(memory));
  EXPECT_EQ(api.mem_free(memory), CUDA_SUCCESS);
  EXPECT_EQ(destroy(created), CUDA_SUCCESS);
  ASSERT_TRUE(current.has_value() && of_memory.has_value());
  EXPECT_FALSE(current->primary);
  EXPECT_FALSE(of_memory->primary);
  EXPECT_EQ(of_memory->device, gpu);

  const ContextGuard guard(DeviceContext::of(0));
  CUdeviceptr primary_memory = 0;
  ASSERT_EQ(api.mem_alloc(&primary_memory, 1000), CUDA_SUCCESS);
  const auto primary = backend().context_of(reinterpret_cast<void*>(primary_memory));
  EXPECT_EQ(api.mem_free(primary_memory), CUDA_SUCCESS);
  ASSERT_TRUE(primary.has_value());
  EXPECT_TRUE(primary->primary);
  EXPECT_TRUE(backend().current_context()->primary);
}

}  // namespace
}  // namespace spanwise::cuda
