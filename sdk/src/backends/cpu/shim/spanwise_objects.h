// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What new, delete and virtual functions call. The module links with the C library alone. Weak, as
// each of the sources that are linked may bring them.
#define SW_WEAK __attribute__((weak))

SW_WEAK void* operator new(size_t bytes) { return malloc(bytes); }
SW_WEAK void* operator new[](size_t bytes) { return malloc(bytes); }
SW_WEAK void operator delete(void* place) noexcept { free(place); }
SW_WEAK void operator delete[](void* place) noexcept { free(place); }
SW_WEAK void operator delete(void* place, size_t) noexcept { free(place); }
SW_WEAK void operator delete[](void* place, size_t) noexcept { free(place); }
inline void* operator new(size_t, void* place) noexcept { return place; }
inline void* operator new[](size_t, void* place) noexcept { return place; }
extern "C" SW_WEAK void __cxa_pure_virtual() { __builtin_trap(); }
#undef SW_WEAK
