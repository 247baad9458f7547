// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// CUDA's vector types, sizes and alignments (CUDA C++ Programming Guide 13.0, "Built-in Vector
// Types"), and their make_ functions.

#define SW_VECTOR_BUT_3(name, type, align2, align4)                                  \
  struct name##1 { type x; };                                                        \
  struct __attribute__((aligned(align2))) name##2 { type x, y; };                    \
  struct __attribute__((aligned(align4))) name##4 { type x, y, z, w; };              \
  static inline name##1 make_##name##1(type x) { return {x}; }                       \
  static inline name##2 make_##name##2(type x, type y) { return {x, y}; }            \
  static inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  static inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
#define SW_VECTOR(name, type, align2, align4) \
  struct name##3 { type x, y, z; };           \
  SW_VECTOR_BUT_3(name, type, align2, align4)

SW_VECTOR(char, signed char, 2, 4)
SW_VECTOR(uchar, unsigned char, 2, 4)
SW_VECTOR(short, short, 4, 8)
SW_VECTOR(ushort, unsigned short, 4, 8)
SW_VECTOR(int, int, 8, 16)
SW_VECTOR(long, long, 16, 16)
SW_VECTOR(ulong, unsigned long, 16, 16)
SW_VECTOR(longlong, long long, 16, 16)
SW_VECTOR(ulonglong, unsigned long long, 16, 16)
SW_VECTOR(float, float, 8, 16)
SW_VECTOR(double, double, 16, 16)
// uint3, the type of threadIdx, is declared in spanwise_cpu.h.
SW_VECTOR_BUT_3(uint, unsigned, 8, 16)
// With the alignment in the name.
#define SW_ALIGNED_VECTOR(name, type, bytes)                                                   \
  struct __attribute__((aligned(bytes))) name##4_##bytes##a { type x, y, z, w; };              \
  static inline name##4_##bytes##a make_##name##4_##bytes##a(type x, type y, type z, type w) { \
    return {x, y, z, w};                                                                       \
  }
#define SW_ALIGNED_VECTORS(name, type) \
  SW_ALIGNED_VECTOR(name, type, 16) SW_ALIGNED_VECTOR(name, type, 32)
SW_ALIGNED_VECTORS(long, long)
SW_ALIGNED_VECTORS(ulong, unsigned long)
SW_ALIGNED_VECTORS(longlong, long long)
SW_ALIGNED_VECTORS(ulonglong, unsigned long long)
SW_ALIGNED_VECTORS(double, double)
#undef SW_ALIGNED_VECTORS
#undef SW_ALIGNED_VECTOR
#undef SW_VECTOR
#undef SW_VECTOR_BUT_3
