// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "runtime/backend.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::cpu_backend {

inline constexpr std::size_t block_alignment = 256;

/// Allocates small blocks from separate mappings, so that a kernel that writes out of bounds does
/// not corrupt the C library's heap. The blocks of a slab have one size; `slack` unused bytes
/// precede the first and follow each. Not thread-safe.
class Slabs {
 public:
  /// A block of `size` bytes, a multiple of block_alignment, that was not allocated before; null if
  /// out of memory. `free` is the caller's list of free blocks of this size: its capacity is raised
  /// to the number of all blocks, so that adding a block to it does not allocate.
  void* allocate(std::size_t size, std::size_t slack, std::vector<void*>& free) noexcept;
  /// Unmaps each slab of blocks of `size` bytes whose allocated blocks are all in `free`, and
  /// removes these blocks from `free`. Returns their number.
  std::size_t release(std::size_t size, std::vector<void*>& free) noexcept;

 private:
  struct Slab {
    std::byte* base;
    std::size_t bytes, slack, spacing;  // spacing: from one block to the next
    std::size_t blocks = 0, used = 0;   // in total, and those allocated so far
    bool contains(const void* data) const noexcept { return data >= base && data < base + bytes; }
  };
  struct SizeClass {
    std::vector<Slab> slabs;  // blocks are taken from the last one
    std::size_t blocks = 0;   // of all slabs
  };
  static void add_slab(SizeClass& blocks, std::size_t size, std::size_t slack);

  std::map<std::size_t, SizeClass> classes_;  // by size
};

/// Host memory, cached by size for later arrays, because the first touch of a fresh page costs
/// about 0.25 us in the operating system, as much as many an operation on it. Unused bytes follow
/// each block, as many as config "cpu_slack" was when the block was taken from the system, so that
/// a kernel that writes past the end of an array by less than that changes no other memory.
/// Thread-safe.
class CpuMemoryPool {
 public:
  static CpuMemoryPool& instance();

  /// 256-byte aligned, at least `bytes`; throws OutOfMemoryError.
  void* allocate(std::size_t bytes);
  /// As allocate(), filled with zeros: on fresh pages, which the system has zeroed. Null if `bytes`
  /// is so small that filling cached memory is as fast, or if the system has no memory.
  void* allocate_zeroed(std::size_t bytes);
  /// `bytes` must be that of the allocation.
  void deallocate(void* data, std::size_t bytes) noexcept;
  /// Only MemoryInfo::held and used.
  runtime::MemoryInfo usage();
  /// Returns cached memory to the system; small blocks only if no block of their slab is in use.
  void trim() noexcept;

  /// The size of the block for an allocation of `bytes`: one of a few sizes per power of two.
  static std::size_t rounded(std::size_t bytes) noexcept { return size_of(class_of(bytes)); }

 private:
  static std::size_t class_of(std::size_t bytes) noexcept;
  static std::size_t size_of(std::size_t size_class) noexcept;
  void* take_block(std::size_t size_class);
  void* take_cached(std::size_t size_class);
  void* allocate_fresh(std::size_t size_class);
  void* map_block(std::size_t size);
  void* allocate_in_slab(std::size_t size_class);
  void unmap_block(void* data, std::size_t size) noexcept;
  std::size_t slack();
  std::size_t cached_bytes() const noexcept;
  bool try_cache(void* data, std::size_t size_class) noexcept;
  void release_slabs() noexcept;

  // Cached bytes beyond which separately mapped blocks are returned to the system.
  static constexpr std::size_t max_cached_bytes = std::size_t{1} << 30;

  // Bytes in arrays, and bytes taken from the system, without the slack.
  std::atomic<std::size_t> used_bytes_{0}, held_bytes_{0};
  Mutex mutex_;  // guards the members below
  // Cached bytes beyond which slabs without used blocks are searched and released.
  std::size_t max_cached_in_slabs_ = max_cached_bytes;
  std::size_t slack_ = 0;
  std::uint64_t slack_version_ = ~std::uint64_t{0};  // config::version() at which slack_ was read
  Slabs slabs_;
  std::unordered_map<void*, std::size_t> mapped_;  // separately mapped block -> its bytes
  // Free blocks by size class: 8 classes up to 2048 bytes, and 8 for each power of two up to 2^64.
  std::array<std::vector<void*>, 8 * 54> cached_;
};

}  // namespace spanwise::cpu_backend
