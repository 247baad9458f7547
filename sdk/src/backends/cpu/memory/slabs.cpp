// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/memory/slabs.hpp"

#include <algorithm>
#include <functional>
#include <new>

#include "backends/cpu/memory/mapping.hpp"

namespace spanwise::cpu_backend {
namespace {

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

}  // namespace spanwise::cpu_backend
