// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/check/shadow_memory.hpp"

#include <algorithm>

namespace spanwise::cpu_backend {
namespace {

// Limit of the shadow of one range, in pages: about 1 GiB with cells of four bytes.
constexpr std::size_t max_pages = 32 << 10;

}  // namespace

// Cells of four bytes are at addresses that are multiples of four.
ShadowMemory::ShadowMemory(std::uintptr_t begin, std::uintptr_t end)
    : begin_(begin & ~std::uintptr_t{3}), pages_((end - begin_) / page_bytes + 1) {}

ShadowMemory::ShadowPage* ShadowMemory::page_for(std::size_t index, bool by_bytes) {
  std::unique_ptr<ShadowPage>& page = pages_[index];
  if (!page) {
    if (used_ >= max_pages) return nullptr;
    ++used_;
    page = std::make_unique<ShadowPage>();
    page->cells.resize(page_bytes / page->cell_bytes);
  }
  if (by_bytes && page->cell_bytes != 1) split(*page);
  return page.get();
}

void ShadowMemory::split(ShadowPage& page) {
  std::vector<ShadowCell> cells(page_bytes);
  for (std::size_t i = 0; i < page_bytes; ++i) cells[i] = page.cells[i / page.cell_bytes];
  page.cells = std::move(cells);
  page.cell_bytes = 1;
}

void ShadowMemory::clear() {
  if (used_ == 0) return;
  for (const std::unique_ptr<ShadowPage>& page : pages_)
    if (page) std::ranges::fill(page->cells, ShadowCell{});
}

}  // namespace spanwise::cpu_backend
