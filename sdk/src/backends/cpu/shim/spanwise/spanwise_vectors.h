// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// CUDA's vector types, sizes and alignments (CUDA C++ Programming Guide 13.0, "Built-in Vector
// Types"), and their make_ functions.

#define SW_VECTOR(name, type, align2, align4)                                        \
  struct name##1 { type x; };                                                        \
  struct __attribute__((aligned(align2))) name##2 { type x, y; };                    \
  struct name##3 { type x, y, z; };                                                  \
  struct __attribute__((aligned(align4))) name##4 { type x, y, z, w; };              \
  static inline name##1 make_##name##1(type x) { return {x}; }                       \
  static inline name##2 make_##name##2(type x, type y) { return {x, y}; }            \
  static inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  static inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

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
#undef SW_VECTOR

// uint3, the type of threadIdx, is declared in spanwise_cpu.h.
struct uint1 {
  unsigned x;
};
struct __attribute__((aligned(8))) uint2 {
  unsigned x, y;
};
struct __attribute__((aligned(16))) uint4 {
  unsigned x, y, z, w;
};
static inline uint1 make_uint1(unsigned x) { return {x}; }
static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}
