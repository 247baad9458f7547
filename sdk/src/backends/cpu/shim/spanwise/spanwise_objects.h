// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Functions for new, delete and virtual functions: the module links with the C library only. Weak,
// because each linked source may define them.
#define SW_WEAK __attribute__((weak))

SW_WEAK void* operator new(size_t bytes) { return malloc(bytes); }
SW_WEAK void* operator new[](size_t bytes) { return malloc(bytes); }
SW_WEAK void operator delete(void* address) noexcept { free(address); }
SW_WEAK void operator delete[](void* address) noexcept { free(address); }
SW_WEAK void operator delete(void* address, size_t) noexcept { free(address); }
SW_WEAK void operator delete[](void* address, size_t) noexcept { free(address); }
#ifndef SW_SYSTEM  // else <new> defines these
inline void* operator new(size_t, void* address) noexcept { return address; }
inline void* operator new[](size_t, void* address) noexcept { return address; }
#endif
extern "C" SW_WEAK void __cxa_pure_virtual() { __builtin_trap(); }
#undef SW_WEAK
