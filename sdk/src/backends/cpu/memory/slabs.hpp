// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <vector>

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

}  // namespace spanwise::cpu_backend
