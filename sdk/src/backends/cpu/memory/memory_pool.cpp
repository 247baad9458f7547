// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/memory/memory_pool.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>
#include <utility>

#include "backends/cpu/memory/mapping.hpp"
#include "backends/cpu/processor.hpp"
#include "backends/cpu/settings.hpp"
#include "core/string_utils.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cpu_backend {
namespace {

constexpr std::size_t mapped_from = 128 << 10;  // larger blocks have their own mapping
constexpr std::size_t zeroed_from = 4 << 20;    // see allocate_zeroed()

}  // namespace

MemoryPool& MemoryPool::instance() {
  // Never destroyed: arrays may be freed until the process ends.
  static auto* pool = new MemoryPool;
  return *pool;
}

// Size classes: the multiples of block_alignment up to 2048 bytes, then eight per power of two. At
// most an eighth of a block is wasted, and arrays of similar sizes share cached blocks.
std::size_t MemoryPool::class_of(std::size_t bytes) noexcept {
  if (bytes <= 8 * block_alignment) return bytes == 0 ? 0 : (bytes - 1) / block_alignment;
  const auto log = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;
  return 8 * (log - 10) + ((bytes - 1) >> (log - 3)) % 8;
}

// The block size of a class; 0 if it overflows.
std::size_t MemoryPool::size_of(std::size_t size_class) noexcept {
  if (size_class < 8) return (size_class + 1) * block_alignment;
  return (size_class % 8 + 9) << (size_class / 8 + 7);
}

void* MemoryPool::take_cached(std::size_t size_class) {
  const std::lock_guard lock(mutex_);
  std::vector<void*>& blocks = cached_[size_class];
  if (blocks.empty()) return nullptr;
  void* data = blocks.back();
  blocks.pop_back();
  mark_used(data, size_of(size_class));
  return data;
}

std::size_t MemoryPool::slack() {
  const std::uint64_t version = config::version();
  if (slack_version_ != version) {
    slack_ = (slack_setting() + block_alignment - 1) / block_alignment * block_alignment;
    slack_version_ = version;
  }
  return slack_;
}

// Maps memory without holding the mutex, because that may take long.
void* MemoryPool::map_block(std::size_t size) {
  std::unique_lock lock(mutex_);
  const std::size_t bytes = size + (slack() + page_bytes - 1) / page_bytes * page_bytes;
  lock.unlock();
  void* data = bytes < size ? nullptr : map_memory(bytes);
  if (data == nullptr) return nullptr;
  mark_unused(data, bytes);
  lock.lock();
  try {
    mapped_.emplace(data, bytes);
  } catch (const std::bad_alloc&) {
    unmap_memory(data, bytes);
    return nullptr;
  }
  return data;
}

void* MemoryPool::allocate_in_slab(std::size_t size_class) {
  const std::lock_guard lock(mutex_);
  return slabs_.allocate(size_of(size_class), slack(), cached_[size_class]);
}

void* MemoryPool::allocate_fresh(std::size_t size_class) {
  const std::size_t size = size_of(size_class);
  void* data = size >= mapped_from ? map_block(size) : allocate_in_slab(size_class);
  if (data == nullptr) return nullptr;
  mark_used(data, size);
  held_bytes_.fetch_add(size, std::memory_order_relaxed);
  return data;
}

void* MemoryPool::take_block(std::size_t size_class) {
  if (void* data = take_cached(size_class)) return data;
  if (void* data = allocate_fresh(size_class)) return data;
  trim();
  return allocate_fresh(size_class);
}

void* MemoryPool::allocate(std::size_t bytes) {
  const std::size_t size_class = class_of(bytes), size = size_of(size_class);
  if (void* data = size < bytes ? nullptr : take_block(size_class)) {
    used_bytes_.fetch_add(size, std::memory_order_relaxed);
    mark_unused(static_cast<std::byte*>(data) + bytes, size - bytes);
    return data;
  }
  const auto memory = system_memory();
  fail<OutOfMemoryError>("cpu: out of memory: ", bytes, " bytes were requested, ",
                         bytes_text(static_cast<std::int64_t>(memory.available)), " of ",
                         bytes_text(static_cast<std::int64_t>(memory.total)),
                         " are free, and arrays hold ", bytes_text(usage().used),
                         ". Release arrays, or work on smaller pieces");
}

void* MemoryPool::allocate_zeroed(std::size_t bytes) {
  const std::size_t size_class = class_of(bytes), size = size_of(size_class);
  if (bytes < zeroed_from || size < bytes) return nullptr;
  void* data = allocate_fresh(size_class);
  if (data == nullptr) return nullptr;
  used_bytes_.fetch_add(size, std::memory_order_relaxed);
  mark_unused(static_cast<std::byte*>(data) + bytes, size - bytes);
  return data;
}

std::size_t MemoryPool::cached_bytes() const noexcept {
  const std::size_t used = used_bytes_.load(std::memory_order_relaxed);
  const std::size_t held = held_bytes_.load(std::memory_order_relaxed);
  return held > used ? held - used : 0;
}

bool MemoryPool::try_cache(void* data, std::size_t size_class) noexcept {
  const std::size_t size = size_of(size_class);
  const bool is_mapped = size >= mapped_from;
  const std::size_t cached = cached_bytes();
  if (is_mapped && cached > max_cached_bytes) return false;
  const std::lock_guard lock(mutex_);
  try {
    cached_[size_class].push_back(data);  // does not allocate for a slab's block, see Slabs
  } catch (const std::bad_alloc&) {
    return false;  // no memory for the list: the caller returns the block to the system
  }
  mark_unused(data, size);
  // Slabs are searched again only when the cached bytes have doubled, so the cost per block is
  // small.
  if (!is_mapped && cached > max_cached_in_slabs_) [[unlikely]] {
    release_slabs();
    max_cached_in_slabs_ = std::max(max_cached_bytes, 2 * cached_bytes());
  }
  return true;
}

void MemoryPool::unmap_block(void* data, std::size_t size) noexcept {
  std::unique_lock lock(mutex_);
  const auto mapping = mapped_.find(data);
  if (mapping == mapped_.end()) return;  // a slab's block, which its free list always has room for
  const std::size_t bytes = mapping->second;
  mapped_.erase(mapping);
  lock.unlock();
  unmap_memory(data, bytes);
  held_bytes_.fetch_sub(size, std::memory_order_relaxed);
}

// The mutex must be held.
void MemoryPool::release_slabs() noexcept {
  for (std::size_t i = 0; size_of(i) < mapped_from; ++i)
    if (!cached_[i].empty())
      held_bytes_.fetch_sub(slabs_.release(size_of(i), cached_[i]) * size_of(i),
                            std::memory_order_relaxed);
}

void MemoryPool::deallocate(void* data, std::size_t bytes) noexcept {
  const std::size_t size_class = class_of(bytes), size = size_of(size_class);
  used_bytes_.fetch_sub(size, std::memory_order_relaxed);
  if (!try_cache(data, size_class)) unmap_block(data, size);
}

runtime::MemoryInfo MemoryPool::usage() {
  runtime::MemoryInfo info;
  info.used = static_cast<std::int64_t>(used_bytes_.load(std::memory_order_relaxed));
  // Another thread may have changed the counters between the two loads.
  info.held =
      std::max(info.used, static_cast<std::int64_t>(held_bytes_.load(std::memory_order_relaxed)));
  return info;
}

void MemoryPool::trim() noexcept {
  std::unique_lock lock(mutex_);
  release_slabs();
  for (std::size_t i = class_of(mapped_from); i < cached_.size(); ++i) {
    const std::vector<void*> blocks = std::exchange(cached_[i], {});
    lock.unlock();
    for (void* block : blocks) unmap_block(block, size_of(i));
    lock.lock();
  }
}

}  // namespace spanwise::cpu_backend
