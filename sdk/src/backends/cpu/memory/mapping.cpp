// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/memory/mapping.hpp"

#include <sys/mman.h>

#include <cstdint>

namespace spanwise::cpu_backend {
namespace {

constexpr std::size_t huge_page = 2 << 20;

}  // namespace

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

void unmap_memory(void* data, std::size_t bytes) noexcept {
  // AddressSanitizer's marks would remain for the next mapping at this address.
  mark_used(data, bytes);
  ::munmap(data, bytes);
}

}  // namespace spanwise::cpu_backend
