// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// How reductions read the elements of an array: one, or WIDTH that are next to each other along the
// last reduced axis (form 1) or the last kept one (form 2), at an aligned address. cuda_source.cpp
// writes the same functions for computed elements.

union Pack {
#if WIDTH > 1
  uint4 words;
#endif
  E x[WIDTH];
};
__device__ __forceinline__ E element_of(const JobArrays& arrays, const JobOffsets& at) {
  return arrays.input[at.input];
}
__device__ __forceinline__ Pack pack_at(const JobArrays& arrays, const JobOffsets& at) {
  Pack pack;
#if WIDTH > 1
  pack.words = *(const uint4*)(arrays.input + at.input);
#else
  pack.x[0] = arrays.input[at.input];
#endif
  return pack;
}
__device__ __forceinline__ E value_of(const JobArrays&, const Pack& pack, int w) {
  return pack.x[w];
}
// Moves by n elements that are next to each other.
__device__ __forceinline__ void move_along(JobOffsets& at, long long n) { at.input += n; }
