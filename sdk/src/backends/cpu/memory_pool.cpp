// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/memory_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

#include "backends/cpu/processor.hpp"
#include "spanwise/error.hpp"

namespace spanwise::host {
namespace {

constexpr std::size_t alignment = 256;
constexpr std::size_t mapped_from = 1 << 20;  // above it memory comes from the system by itself
constexpr std::size_t huge_page = 2 << 20;    // pays where a block holds some of them
constexpr std::size_t zeroed_from = 4 << 20;
constexpr std::size_t most_kept = std::size_t{1} << 30;

void* map(std::size_t size) {
  // Room to begin on a huge page; the ends are given back at once.
  const std::size_t slack = size >= 2 * huge_page ? huge_page : 0;
  void* base =
      ::mmap(nullptr, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  if (slack == 0) return base;
  auto* first = static_cast<std::byte*>(base);
  const auto address = reinterpret_cast<std::uintptr_t>(first);
  const std::size_t head = (huge_page - address % huge_page) % huge_page;
  if (head > 0) ::munmap(first, head);
  if (head < slack) ::munmap(first + head + size, slack - head);
  ::madvise(first + head, size, MADV_HUGEPAGE);
  return first + head;
}

void* from_system(std::size_t size) {
  return size >= mapped_from ? map(size) : std::aligned_alloc(alignment, size);
}

void to_system(void* data, std::size_t size) noexcept {
  if (size >= mapped_from)
    ::munmap(data, size);
  else
    std::free(data);
}

}  // namespace

MemoryPool& MemoryPool::instance() {
  // Never destroyed: arrays may be given back until the process ends.
  static auto* pool = new MemoryPool;
  return *pool;
}

std::size_t MemoryPool::rounded(std::size_t bytes) noexcept {
  if (bytes <= alignment) return alignment;
  // Eight sizes a power of two: at most an eighth is wasted, and neighbours share what is kept.
  const std::size_t step = std::max(std::bit_floor(bytes - 1) / 8, alignment);
  const std::size_t page = bytes >= mapped_from ? 4096 : alignment;
  const std::size_t unit = std::max(step, page);
  return (bytes + unit - 1) / unit * unit;
}

void* MemoryPool::take_kept(std::size_t size) {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(size);
  if (found == kept_.end() || found->second.empty()) return nullptr;
  void* data = found->second.back();
  found->second.pop_back();
  return data;
}

void* MemoryPool::fresh(std::size_t size) noexcept {
  void* data = from_system(size);
  if (data != nullptr) held_bytes_.fetch_add(size, std::memory_order_relaxed);
  return data;
}

void* MemoryPool::take(std::size_t size) {
  if (void* data = take_kept(size)) return data;
  if (void* data = fresh(size)) return data;
  trim();
  return fresh(size);
}

void* MemoryPool::allocate(std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  if (void* data = size < bytes ? nullptr : take(size)) {
    used_bytes_.fetch_add(size, std::memory_order_relaxed);
    return data;
  }
  const auto memory = system_memory();
  fail<OutOfMemoryError>("cpu: out of memory: ", bytes, " bytes were asked for, ", memory.available,
                         " of ", memory.total, " are free, and arrays hold ", usage().used,
                         ". Release arrays, or work on smaller pieces");
}

void* MemoryPool::allocate_zeroed(std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  if (bytes < zeroed_from || size < bytes) return nullptr;
  void* data = fresh(size);
  if (data != nullptr) used_bytes_.fetch_add(size, std::memory_order_relaxed);
  return data;
}

bool MemoryPool::keep(void* data, std::size_t size) noexcept {
  const std::size_t used = used_bytes_.load(std::memory_order_relaxed);
  const std::size_t held = held_bytes_.load(std::memory_order_relaxed);
  if (held > used && held - used > most_kept) return false;
  const std::lock_guard lock(mutex_);
  try {
    kept_[size].push_back(data);
  } catch (const std::bad_alloc&) {
    return false;  // no room to remember it: it goes back to the system
  }
  return true;
}

void MemoryPool::drop(void* data, std::size_t size) noexcept {
  to_system(data, size);
  held_bytes_.fetch_sub(size, std::memory_order_relaxed);
}

void MemoryPool::deallocate(void* data, std::size_t bytes) noexcept {
  const std::size_t size = rounded(bytes);
  used_bytes_.fetch_sub(size, std::memory_order_relaxed);
  if (!keep(data, size)) drop(data, size);
}

runtime::MemoryInfo MemoryPool::usage() {
  runtime::MemoryInfo info;
  info.used = static_cast<std::int64_t>(used_bytes_.load(std::memory_order_relaxed));
  // Between the two another thread may have worked.
  info.held =
      std::max(info.used, static_cast<std::int64_t>(held_bytes_.load(std::memory_order_relaxed)));
  return info;
}

void MemoryPool::trim() noexcept {
  const std::lock_guard lock(mutex_);
  for (auto& [size, blocks] : kept_) {
    for (void* block : blocks) drop(block, size);
    blocks.clear();
  }
}

}  // namespace spanwise::host
