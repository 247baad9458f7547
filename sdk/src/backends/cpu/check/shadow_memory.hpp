// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cpu/check/access_order.hpp"

namespace spanwise::cpu_backend {

/// The last accesses to one or four bytes of memory.
struct ShadowCell {
  Stamp writer;
  Stamp reader, other_reader;                  ///< the last reads by two threads, the latest first
  std::int32_t write_code = 0, read_code = 0;  ///< instructions, see AccessCheck::code_offset
};

/// The accesses to one range of memory, in pages that are allocated when they are first used. A
/// cell stands for four bytes or, in pages with smaller or unaligned accesses, for one.
class ShadowMemory {
 public:
  ShadowMemory(std::uintptr_t begin, std::uintptr_t end);

  /// Calls f(cell, offset, cell_bytes) for each cell of the `bytes` bytes at `address`, where
  /// `offset` counts from `address`. Skips pages that would exceed the memory limit of a shadow.
  template <class F>
  void for_each(std::uintptr_t address, std::size_t bytes, F&& f) {
    for (std::size_t done = 0; done < bytes;) {
      const std::uintptr_t position = address + done - begin_;
      const std::size_t in_page = position % page_bytes;
      const std::size_t count =
          bytes - done < page_bytes - in_page ? bytes - done : page_bytes - in_page;
      if (ShadowPage* page = page_for(position / page_bytes, in_page % 4 != 0 || count % 4 != 0)) {
        const std::size_t size = page->cell_bytes;
        for (std::size_t i = 0; i < count; i += size)
          f(page->cells[(in_page + i) / size], done + i, size);
      }
      done += count;
    }
  }
  /// Forgets all accesses.
  void clear();

 private:
  static constexpr std::size_t page_bytes = 4096;
  struct ShadowPage {
    std::size_t cell_bytes = 4;
    std::vector<ShadowCell> cells{};
  };
  ShadowPage* page_for(std::size_t index, bool by_bytes);
  static void split(ShadowPage& page);

  std::uintptr_t begin_;
  std::vector<std::unique_ptr<ShadowPage>> pages_;
  std::size_t used_ = 0;  // pages allocated
};

}  // namespace spanwise::cpu_backend
