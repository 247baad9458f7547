// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/cpu_memory_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <new>
#include <utility>

#include "backends/cpu/cpu_settings.hpp"
#include "backends/cpu/processor.hpp"
#include "core/string_utils.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/runtime/config.hpp"

// Declared as in sanitizer/asan_interface.h, but weak: they exist only if the sanitizer's library
// is loaded.
// NOLINTBEGIN(bugprone-reserved-identifier): the sanitizer's names
extern "C" {
__attribute__((weak, visibility("default"))) void __asan_poison_memory_region(const volatile void*,
                                                                              std::size_t);
__attribute__((weak, visibility("default"))) void __asan_unpoison_memory_region(
    const volatile void*, std::size_t);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace spanwise::cpu_backend {
namespace {

constexpr std::size_t page_bytes = 4096, huge_page = 2 << 20;
constexpr std::size_t mapped_from = 128 << 10;  // larger blocks have their own mapping
constexpr std::size_t zeroed_from = 4 << 20;    // see allocate_zeroed()

// Marks memory as unused, so that AddressSanitizer reports accesses to it, if its run-time library
// is loaded (also by LD_PRELOAD, for kernels compiled with config "cpu_sanitize"). Otherwise a
// no-op.
void mark_unused(void* data, std::size_t bytes) noexcept {
  if (__asan_poison_memory_region != nullptr) [[unlikely]]
    __asan_poison_memory_region(data, bytes);
}
void mark_used(void* data, std::size_t bytes) noexcept {
  if (__asan_unpoison_memory_region != nullptr) [[unlikely]]
    __asan_unpoison_memory_region(data, bytes);
}

// Maps `bytes` bytes of anonymous memory, a multiple of page_bytes, readable and writable. From two
// huge pages on it is aligned to a huge page and requests huge pages. Null if out of memory.
void* map_memory(std::size_t bytes) noexcept {
  // Extra bytes to align to a huge page; the excess at both ends is unmapped.
  const std::size_t extra = bytes >= 2 * huge_page ? huge_page : 0;
  if (bytes + extra < bytes) return nullptr;
  void* base =
      ::mmap(nullptr, bytes + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  if (extra == 0) return base;
  auto* first = static_cast<std::byte*>(base);
  const auto address = reinterpret_cast<std::uintptr_t>(first);
  const std::size_t head = (huge_page - address % huge_page) % huge_page;
  if (head > 0) ::munmap(first, head);
  if (head < extra) ::munmap(first + head + bytes, extra - head);
  ::madvise(first + head, bytes, MADV_HUGEPAGE);
  return first + head;
}

// `bytes` must be that of map_memory().
void unmap_memory(void* data, std::size_t bytes) noexcept {
  // AddressSanitizer's marks would remain for the next mapping at this address.
  mark_used(data, bytes);
  ::munmap(data, bytes);
}

// Bytes of the first slab for a block size; each further one is twice as large, up to
// max_doublings. No huge pages: a program may use only one block of a size.
constexpr std::size_t first_slab_bytes = 256 << 10, max_doublings = 3;
constexpr std::size_t min_blocks = 8;  // in a slab

// Not a multiple of a page: blocks whose addresses agree in the last 12 bits use the same cache
// sets.
std::size_t spacing_for(std::size_t size, std::size_t slack) {
  const std::size_t spacing = size + slack;
  return spacing % page_bytes == 0 ? spacing + block_alignment : spacing;
}

}  // namespace

void Slabs::add_slab(SizeClass& blocks, std::size_t size, std::size_t slack) {
  Slab slab{};
  slab.slack = slack;
  slab.spacing = spacing_for(size, slack);
  const std::size_t usual_bytes = first_slab_bytes << std::min(blocks.slabs.size(), max_doublings);
  const std::size_t min_bytes = slack + min_blocks * slab.spacing;
  slab.bytes = (std::max(usual_bytes, min_bytes) + page_bytes - 1) / page_bytes * page_bytes;
  slab.blocks = (slab.bytes - slack) / slab.spacing;
  blocks.slabs.reserve(blocks.slabs.size() + 1);  // throws before the memory is mapped
  slab.base = static_cast<std::byte*>(map_memory(slab.bytes));
  if (slab.base == nullptr) throw std::bad_alloc();
  mark_unused(slab.base, slab.bytes);
  blocks.slabs.push_back(slab);
  blocks.blocks += slab.blocks;
}

void* Slabs::allocate(std::size_t size, std::size_t slack, std::vector<void*>& free) noexcept {
  try {
    SizeClass& blocks = classes_[size];
    if (blocks.slabs.empty() || blocks.slabs.back().used == blocks.slabs.back().blocks ||
        blocks.slabs.back().slack != slack)
      add_slab(blocks, size, slack);
    if (free.capacity() < blocks.blocks) free.reserve(std::max(blocks.blocks, 2 * free.capacity()));
    Slab& slab = blocks.slabs.back();
    return slab.base + slab.slack + slab.used++ * slab.spacing;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

std::size_t Slabs::release(std::size_t size, std::vector<void*>& free) noexcept {
  const auto entry = classes_.find(size);
  if (entry == classes_.end()) return 0;
  SizeClass& blocks = entry->second;
  std::ranges::sort(free, std::less<>{});
  std::size_t released = 0;
  std::erase_if(blocks.slabs, [&](const Slab& slab) {
    const auto first = std::ranges::lower_bound(free, slab.base, std::less<void*>{});
    const auto last = std::find_if_not(first, free.end(),
                                       [&](const void* block) { return slab.contains(block); });
    if (static_cast<std::size_t>(last - first) != slab.used) return false;
    free.erase(first, last);
    unmap_memory(slab.base, slab.bytes);
    released += slab.used;
    blocks.blocks -= slab.blocks;
    return true;
  });
  return released;
}

CpuMemoryPool& CpuMemoryPool::instance() {
  // Never destroyed: arrays may be freed until the process ends.
  static NeverDestroyed<CpuMemoryPool> pool;
  return *pool;
}

// Size classes: the multiples of block_alignment up to 2048 bytes, then eight per power of two. At
// most an eighth of a block is wasted, and arrays of similar sizes share cached blocks.
std::size_t CpuMemoryPool::class_of(std::size_t bytes) noexcept {
  if (bytes <= 8 * block_alignment) return bytes == 0 ? 0 : (bytes - 1) / block_alignment;
  const auto log = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;
  return 8 * (log - 10) + ((bytes - 1) >> (log - 3)) % 8;
}

// The block size of a class; 0 if it overflows.
std::size_t CpuMemoryPool::size_of(std::size_t size_class) noexcept {
  if (size_class < 8) return (size_class + 1) * block_alignment;
  return (size_class % 8 + 9) << (size_class / 8 + 7);
}

void* CpuMemoryPool::take_cached(std::size_t size_class) {
  const std::lock_guard lock(mutex_);
  std::vector<void*>& blocks = cached_[size_class];
  if (blocks.empty()) return nullptr;
  void* data = blocks.back();
  blocks.pop_back();
  mark_used(data, size_of(size_class));
  return data;
}

std::size_t CpuMemoryPool::slack() {
  const std::uint64_t version = config::version();
  if (slack_version_ != version) {
    slack_ = (slack_setting() + block_alignment - 1) / block_alignment * block_alignment;
    slack_version_ = version;
  }
  return slack_;
}

// Maps memory without holding the mutex, because that may take long.
void* CpuMemoryPool::map_block(std::size_t size) {
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

void* CpuMemoryPool::allocate_in_slab(std::size_t size_class) {
  const std::lock_guard lock(mutex_);
  return slabs_.allocate(size_of(size_class), slack(), cached_[size_class]);
}

void* CpuMemoryPool::allocate_fresh(std::size_t size_class) {
  const std::size_t size = size_of(size_class);
  void* data = size >= mapped_from ? map_block(size) : allocate_in_slab(size_class);
  if (data == nullptr) return nullptr;
  mark_used(data, size);
  held_bytes_.fetch_add(size, std::memory_order_relaxed);
  return data;
}

void* CpuMemoryPool::take_block(std::size_t size_class) {
  if (void* data = take_cached(size_class)) return data;
  if (void* data = allocate_fresh(size_class)) return data;
  trim();
  return allocate_fresh(size_class);
}

void* CpuMemoryPool::allocate(std::size_t bytes) {
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

void* CpuMemoryPool::allocate_zeroed(std::size_t bytes) {
  const std::size_t size_class = class_of(bytes), size = size_of(size_class);
  if (bytes < zeroed_from || size < bytes) return nullptr;
  void* data = allocate_fresh(size_class);
  if (data == nullptr) return nullptr;
  used_bytes_.fetch_add(size, std::memory_order_relaxed);
  mark_unused(static_cast<std::byte*>(data) + bytes, size - bytes);
  return data;
}

std::size_t CpuMemoryPool::cached_bytes() const noexcept {
  const std::size_t used = used_bytes_.load(std::memory_order_relaxed);
  const std::size_t held = held_bytes_.load(std::memory_order_relaxed);
  return held > used ? held - used : 0;
}

bool CpuMemoryPool::try_cache(void* data, std::size_t size_class) noexcept {
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

void CpuMemoryPool::unmap_block(void* data, std::size_t size) noexcept {
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
void CpuMemoryPool::release_slabs() noexcept {
  for (std::size_t i = 0; size_of(i) < mapped_from; ++i)
    if (!cached_[i].empty())
      held_bytes_.fetch_sub(slabs_.release(size_of(i), cached_[i]) * size_of(i),
                            std::memory_order_relaxed);
}

void CpuMemoryPool::deallocate(void* data, std::size_t bytes) noexcept {
  const std::size_t size_class = class_of(bytes), size = size_of(size_class);
  used_bytes_.fetch_sub(size, std::memory_order_relaxed);
  if (!try_cache(data, size_class)) unmap_block(data, size);
}

runtime::MemoryInfo CpuMemoryPool::usage() {
  runtime::MemoryInfo info;
  info.used = static_cast<std::int64_t>(used_bytes_.load(std::memory_order_relaxed));
  // Another thread may have changed the counters between the two loads.
  info.held =
      std::max(info.used, static_cast<std::int64_t>(held_bytes_.load(std::memory_order_relaxed)));
  return info;
}

void CpuMemoryPool::trim() noexcept {
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
