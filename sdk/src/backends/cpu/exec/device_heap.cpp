// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/device_heap.hpp"

#include <array>
#include <bit>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "backends/cpu/cpu_memory_pool.hpp"
#include "backends/cpu/processor.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::cpu_backend {
namespace {

constexpr std::size_t min_block = 16, max_small = 4096, slab_bytes = 64 << 10;

struct Blocks {
  Mutex mutex;
  std::unordered_map<void*, std::size_t> sizes;  // of the allocated blocks
  std::array<std::vector<void*>, 9> free;        // of 16, 32, ..., 4096 bytes, from slabs
  std::size_t allocated = 0, limit = 0;          // bytes
};

std::vector<void*>& free_blocks(Blocks& blocks, std::size_t size) {
  return blocks.free[static_cast<std::size_t>(std::countr_zero(size / min_block))];
}

void* take_block(Blocks& blocks, std::size_t size) {
  if (size > max_small) return CpuMemoryPool::instance().allocate(size);
  std::vector<void*>& free = free_blocks(blocks, size);
  if (free.empty()) {
    free.reserve(slab_bytes / size);
    auto* slab = static_cast<std::byte*>(CpuMemoryPool::instance().allocate(slab_bytes));
    for (std::size_t at = slab_bytes; at > 0; at -= size) free.push_back(slab + at - size);
  }
  void* block = free.back();
  free.pop_back();
  return block;
}

void give_back(Blocks& blocks, void* block, std::size_t size) {
  if (size > max_small) return CpuMemoryPool::instance().deallocate(block, size);
  free_blocks(blocks, size).push_back(block);
}

Blocks& blocks() {
  static NeverDestroyed<Blocks> blocks;  // kernels keep blocks between launches
  return *blocks;
}

bool is_allocated(void* address) {
  const std::lock_guard lock(blocks().mutex);
  return blocks().sizes.contains(address);
}

}  // namespace

void* DeviceHeap::allocate(std::size_t bytes) noexcept {
  const std::lock_guard lock(blocks().mutex);
  try {
    // A kernel that allocates until it gets null gets it before the system ends the process.
    if (blocks().limit == 0) blocks().limit = static_cast<std::size_t>(system_memory().total) / 2;
    if (bytes > blocks().limit || bytes > blocks().limit - blocks().allocated) return nullptr;
    const std::size_t size =
        bytes > max_small ? bytes : std::bit_ceil(bytes < min_block ? min_block : bytes);
    void* block = take_block(blocks(), size);
    blocks().sizes.emplace(block, size);
    blocks().allocated += size;
    return block;
  } catch (...) {
    return nullptr;
  }
}

bool DeviceHeap::release(void* address) noexcept {
  const std::lock_guard lock(blocks().mutex);
  const auto block = blocks().sizes.find(address);
  if (block == blocks().sizes.end()) return false;
  blocks().allocated -= block->second;
  try {
    give_back(blocks(), address, block->second);
  } catch (...) {  // no memory for the list: the block is not used again
  }
  blocks().sizes.erase(block);
  return true;
}

DeviceHeap::Trial::~Trial() {
  for (void* address : allocated_) DeviceHeap::release(address);
}

void* DeviceHeap::Trial::allocate(std::size_t bytes) {
  void* address = DeviceHeap::allocate(bytes);
  if (address != nullptr) allocated_.insert(address);
  return address;
}

bool DeviceHeap::Trial::release(void* address) {
  if (allocated_.erase(address) > 0) return DeviceHeap::release(address);
  return is_allocated(address) && released_.insert(address).second;
}

}  // namespace spanwise::cpu_backend
