// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace spanwise::host {

inline constexpr std::size_t block_alignment = 256;

/// Small blocks, cut from mappings of the pool's own: a kernel that writes outside of an array
/// never meets the bookkeeping of the C library's heap. Blocks of a slab have one size, and `slack`
/// unused bytes lie before the first and behind each. Not safe from several threads at once.
class Slabs {
 public:
  /// A block of `size` bytes, a multiple of block_alignment, that was not handed out before; null
  /// where there is no memory. `free` is the list of the blocks of this size that the caller keeps:
  /// it gets room for all of them, so that adding one does not allocate.
  void* cut(std::size_t size, std::size_t slack, std::vector<void*>& free) noexcept;
  /// Unmaps the slabs of blocks of `size` bytes of which each block that was handed out is in
  /// `free`, and takes those out of it. Returns how many they were.
  std::size_t release(std::size_t size, std::vector<void*>& free) noexcept;

 private:
  struct Slab {
    std::byte* base;
    std::size_t bytes, slack, spacing;
    std::size_t blocks = 0, used = 0;  // there are, and were handed out
    bool holds(const void* data) const noexcept { return data >= base && data < base + bytes; }
  };
  struct SizeClass {
    std::vector<Slab> slabs;  // the last one is cut
    std::size_t blocks = 0;   // of all slabs
  };
  static void add_slab(SizeClass& blocks, std::size_t size, std::size_t slack);

  std::map<std::size_t, SizeClass> classes_;  // by size
};

}  // namespace spanwise::host
