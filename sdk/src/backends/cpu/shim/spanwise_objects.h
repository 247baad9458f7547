// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What new, delete and virtual functions call. The module links with the C library alone.

void* operator new(size_t bytes) { return malloc(bytes); }
void* operator new[](size_t bytes) { return malloc(bytes); }
void operator delete(void* place) noexcept { free(place); }
void operator delete[](void* place) noexcept { free(place); }
void operator delete(void* place, size_t) noexcept { free(place); }
void operator delete[](void* place, size_t) noexcept { free(place); }
inline void* operator new(size_t, void* place) noexcept { return place; }
inline void* operator new[](size_t, void* place) noexcept { return place; }
extern "C" void __cxa_pure_virtual() { __builtin_trap(); }
