// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// sanitizer/asan_interface.h declares them too; they are there only where its library is loaded.
extern "C" {
__attribute__((weak, visibility("default"))) void __asan_poison_memory_region(const volatile void*,
                                                                              std::size_t);
__attribute__((weak, visibility("default"))) void __asan_unpoison_memory_region(
    const volatile void*, std::size_t);
}

namespace spanwise::host {

inline constexpr std::size_t page_bytes = 4096;

/// Anonymous memory of `bytes` bytes, a multiple of page_bytes, readable and writable; from two
/// huge pages on it begins on a huge page and asks for them. Null where there is no memory.
void* map_memory(std::size_t bytes) noexcept;
/// `bytes` as it was mapped.
void unmap_memory(void* data, std::size_t bytes) noexcept;

/// Where AddressSanitizer's run-time library is loaded, also by LD_PRELOAD for kernels that are
/// compiled under config "cpu_sanitize", it reports accesses to bytes that are marked unused.
/// Elsewhere nothing.
inline void mark_unused(void* data, std::size_t bytes) noexcept {
  if (__asan_poison_memory_region != nullptr) [[unlikely]]
    __asan_poison_memory_region(data, bytes);
}
inline void mark_used(void* data, std::size_t bytes) noexcept {
  if (__asan_unpoison_memory_region != nullptr) [[unlikely]]
    __asan_unpoison_memory_region(data, bytes);
}

}  // namespace spanwise::host
