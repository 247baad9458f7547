// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "backends/cpu/cpu_kernels.hpp"
#include "backends/cpu/cpu_memory_pool.hpp"
#include "runtime/backend.hpp"
#include "spanwise/core/error.hpp"
#include "support/message_of.hpp"

namespace spanwise::cpu_backend {
namespace {

using testing::HasSubstr;

runtime::Backend& backend() { return runtime::backend_for(cpu); }
runtime::StreamState& stream() { return *backend().default_stream(0); }

TEST(CpuBackend, DescribesTheMachine) {
  const DeviceProperties properties = backend().properties(0);
  EXPECT_FALSE(properties.name.empty());
  EXPECT_FALSE(properties.architecture.empty());
  EXPECT_GT(properties.total_memory, 0);
  EXPECT_GT(properties.free_memory, 0);
  EXPECT_LE(properties.free_memory, properties.total_memory);
  EXPECT_GE(properties.multiprocessors, 1);
  EXPECT_EQ(properties.max_threads_per_block, 1024);
  EXPECT_GT(backend().device_count(), 1) << "logical devices over one processor";
  EXPECT_EQ(backend().unavailable_reason(), "");
}

TEST(CpuMemory, IsAlignedWritableAndDistinct) {
  std::vector<std::pair<void*, std::size_t>> blocks;
  for (const std::size_t bytes : {1u, 255u, 257u, 5000u, 1u << 20, (5u << 20) + 3}) {
    void* data = backend().allocate(0, bytes, stream());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 256, 0u) << bytes;
    std::memset(data, static_cast<int>(blocks.size()), bytes);
    blocks.emplace_back(data, bytes);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto* bytes = static_cast<const unsigned char*>(blocks[i].first);
    EXPECT_EQ(bytes[0], i);
    EXPECT_EQ(bytes[blocks[i].second - 1], i);
    backend().deallocate(0, blocks[i].first, blocks[i].second, stream());
  }
}

TEST(CpuMemory, FreedBlockIsReusedForTheSameSize) {
  void* first = backend().allocate(0, 3 << 20, stream());
  const auto used = backend().memory(0).used;
  backend().deallocate(0, first, 3 << 20, stream());
  EXPECT_EQ(backend().memory(0).used, used - (3 << 20));
  EXPECT_GE(backend().memory(0).held, 3 << 20);
  void* second = backend().allocate(0, (3 << 20) - 100, stream());
  EXPECT_EQ(first, second);
  backend().deallocate(0, second, (3 << 20) - 100, stream());
  CpuMemoryPool::instance().trim();
  EXPECT_EQ(backend().memory(0).held, backend().memory(0).used);
}

// A kernel without a bounds check writes behind its array if the launch has more threads than the
// array has elements.
TEST(CpuMemory, HasUnusedBytesBehindEachBlock) {
  const test::SettingGuard slack("cpu_slack", "3000");
  for (const std::size_t size : {256u, 512u, 4096u, 100000u, 128u << 10, 5u << 20}) {
    std::vector<unsigned char*> blocks;
    for (int i = 0; i < 20; ++i) {
      blocks.push_back(static_cast<unsigned char*>(backend().allocate(0, size, stream())));
      std::memset(blocks.back(), i, size);
    }
    for (unsigned char* block : blocks) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 256, 0u);
#if defined(__SANITIZE_ADDRESS__)
      EXPECT_TRUE(__asan_address_is_poisoned(block + size))
          << "the sanitizer has to report overruns, size " << size;
#else
      std::memset(block + size, 0xee, 3000);
#endif
    }
    for (std::size_t i = 0; i < blocks.size(); ++i)
      EXPECT_EQ(std::count(blocks[i], blocks[i] + size, i), static_cast<std::ptrdiff_t>(size));
    for (unsigned char* block : blocks) backend().deallocate(0, block, size, stream());
  }
  CpuMemoryPool::instance().trim();
  EXPECT_EQ(backend().memory(0).held, backend().memory(0).used);
}

TEST(CpuMemory, SmallBlocksAreFreedBySlab) {
  constexpr std::size_t size = 60000, count = 200;
  CpuMemoryPool::instance().trim();
  const auto before = backend().memory(0);
  std::vector<void*> blocks(count);
  for (void*& block : blocks) block = backend().allocate(0, size, stream());
  for (std::size_t i = 1; i < count; ++i) backend().deallocate(0, blocks[i], size, stream());
  CpuMemoryPool::instance().trim();
  const auto one_left = backend().memory(0);
  EXPECT_LT(one_left.held - before.held, (std::int64_t{1} << 20));
  EXPECT_GE(one_left.held - before.held, static_cast<std::int64_t>(size));
  // The cached slab of the last block is reused.
  void* again = backend().allocate(0, size, stream());
  EXPECT_EQ(backend().memory(0).held, one_left.held);
  backend().deallocate(0, again, size, stream());
  backend().deallocate(0, blocks[0], size, stream());
  CpuMemoryPool::instance().trim();
  EXPECT_EQ(backend().memory(0).held, before.held);
}

TEST(CpuMemory, IsAllocatedAndFreedByManyThreads) {
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([n] {
      for (int round = 0; round < 300; ++round) {
        const auto size = static_cast<std::size_t>(1 + (round * 7919 + n) % 200000);
        auto* data = static_cast<unsigned char*>(backend().allocate(0, size, stream()));
        data[0] = data[size - 1] = static_cast<unsigned char>(n);
        if (round % 50 == 0) CpuMemoryPool::instance().trim();
        EXPECT_EQ(data[size - 1], n);
        backend().deallocate(0, data, size, stream());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CpuMemoryPool::instance().trim();
  EXPECT_EQ(backend().memory(0).held, backend().memory(0).used);
}

TEST(CpuMemory, ZeroedMemoryIsZero) {
  const std::size_t bytes = 8 << 20;
  void* dirty = backend().allocate(0, bytes, stream());
  std::memset(dirty, 0xff, bytes);
  backend().deallocate(0, dirty, bytes, stream());
  auto* data = static_cast<unsigned char*>(backend().allocate_zeroed(0, bytes, stream()));
  ASSERT_NE(data, nullptr);
  for (std::size_t i = 0; i < bytes; i += 997) ASSERT_EQ(data[i], 0);
  backend().deallocate(0, data, bytes, stream());
  EXPECT_EQ(backend().allocate_zeroed(0, 100, stream()), nullptr);
}

TEST(CpuMemory, OutOfMemoryErrorGivesTheRequestedSize) {
  for (const std::size_t bytes : {std::size_t{1} << 60, ~std::size_t{0}}) {
    EXPECT_THAT(test::message_of<OutOfMemoryError>([&] { backend().allocate(0, bytes, stream()); }),
                ::testing::AllOf(HasSubstr(std::to_string(bytes)), HasSubstr("are free")));
  }
}

TEST(CpuMemory, RoundsUpByAtMostAnEighth) {
  for (std::size_t bytes = 1; bytes < (std::size_t{1} << 40); bytes = bytes * 9 / 8 + 1) {
    const std::size_t size = CpuMemoryPool::rounded(bytes);
    EXPECT_GE(size, bytes);
    EXPECT_LE(size, std::max<std::size_t>(bytes + bytes / 8 + 1, bytes + 4096));
    EXPECT_EQ(size % 256, 0u);
    EXPECT_EQ(CpuMemoryPool::rounded(size), size);
  }
}

TEST(CpuStreams, AreAlwaysIdle) {
  const auto created = backend().create_stream(0);
  EXPECT_NE(created.get(), &stream());
  EXPECT_EQ(backend().default_stream(0).get(), &stream());
  EXPECT_TRUE(created->query());
  EXPECT_EQ(created->handle(), 0u);
  EXPECT_EQ(created->device(), cpu);
  created->wait(*stream().record(false));
  created->synchronize();
  EXPECT_THROW(backend().foreign_stream(0, 1), ArgumentError);
}

TEST(CpuEvents, CarryTheTimeTheyWereRecorded) {
  const auto start = stream().record(true);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto end = stream().record(true);
  EXPECT_GE(end->milliseconds_since(*start), 4.9);
  EXPECT_LE(start->milliseconds_since(*end), -4.9);
  EXPECT_TRUE(start->query());
  const auto untimed = stream().record(false);
  EXPECT_THROW(untimed->milliseconds_since(*start), DeviceError);
}

TEST(CpuTransfers, CopyBytes) {
  const std::vector<int> from{1, 2, 3};
  std::vector<int> on_device(3), back(3);
  backend().upload(from.data(), on_device.data(), 12, stream());
  backend().download(on_device.data(), back.data(), 12, stream());
  EXPECT_EQ(back, from);
  std::vector<int> peer(3);
  backend().copy_peer(back.data(), 0, peer.data(), 0, 12, stream());
  EXPECT_EQ(peer, from);
  backend().upload(nullptr, nullptr, 0, stream());
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose runtimes handle faults
TEST(CpuFaults, AreTrappedAfterThousandsOfThreadsHaveRunKernels) {
  test::CpuKernels kernels("__global__ void k(int* out) { *out += 1; }");
  int runs = 0;
  const auto run_in_new_thread = [&](int* out) {
    std::thread([&] { kernels.run("k", {{1}, {1}}, out); }).join();
  };
  for (int i = 0; i < 4200; ++i) run_in_new_thread(&runs);
  EXPECT_EQ(runs, 4200);
  std::string message;
  std::thread([&] {
    message = test::message_of<KernelFaultError>(
        [&] { kernels.run("k", {{1}, {1}}, static_cast<int*>(nullptr)); });
  }).join();
  EXPECT_THAT(message, HasSubstr("SIGSEGV"));
}
#endif

}  // namespace
}  // namespace spanwise::cpu_backend
