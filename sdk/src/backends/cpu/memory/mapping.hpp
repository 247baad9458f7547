// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// Declared as in sanitizer/asan_interface.h, but weak: they exist only if the sanitizer's library
// is loaded.
// NOLINTBEGIN(bugprone-reserved-identifier): the sanitizer's names
extern "C" {
__attribute__((weak, visibility("default"))) void __asan_poison_memory_region(const volatile void*,
                                                                              std::size_t);
__attribute__((weak, visibility("default"))) void __asan_unpoison_memory_region(
    const volatile void*, std::size_t);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace spanwise::cpu_backend {

inline constexpr std::size_t page_bytes = 4096;

/// Maps `bytes` bytes of anonymous memory, a multiple of page_bytes, readable and writable. From
/// two huge pages on it is aligned to a huge page and requests huge pages. Null if out of memory.
void* map_memory(std::size_t bytes) noexcept;
/// `bytes` must be that of map_memory().
void unmap_memory(void* data, std::size_t bytes) noexcept;

/// Marks memory as unused, so that AddressSanitizer reports accesses to it, if its run-time library
/// is loaded (also by LD_PRELOAD, for kernels compiled with config "cpu_sanitize"). Otherwise a
/// no-op.
inline void mark_unused(void* data, std::size_t bytes) noexcept {
  if (__asan_poison_memory_region != nullptr) [[unlikely]]
    __asan_poison_memory_region(data, bytes);
}
inline void mark_used(void* data, std::size_t bytes) noexcept {
  if (__asan_unpoison_memory_region != nullptr) [[unlikely]]
    __asan_unpoison_memory_region(data, bytes);
}

}  // namespace spanwise::cpu_backend
