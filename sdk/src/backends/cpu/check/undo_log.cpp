// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/check/undo_log.hpp"

namespace spanwise::cpu_backend {

// Byte by byte: only bytes that the kernel writes may be touched, because other threads of the
// program may use their neighbours.
void UndoLog::save(std::uintptr_t address, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::uintptr_t target = address + i;
    SavedPage& page = pages_[target / page_bytes];
    if (page.saved.test(target % page_bytes)) continue;
    page.contents[target % page_bytes] = *reinterpret_cast<const std::byte*>(target);
    page.saved.set(target % page_bytes);
  }
}

void UndoLog::restore() noexcept {
  for (const auto& [number, page] : pages_)
    for (std::size_t i = 0; i < page_bytes; ++i)
      if (page.saved.test(i))
        *reinterpret_cast<std::byte*>(number * page_bytes + i) = page.contents[i];
  pages_.clear();
}

}  // namespace spanwise::cpu_backend
