// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// For CUDA C kernels, after <spanwise/half_bits.cuh> and, in the same namespace,
// <spanwise/elements.cuh>: #include <spanwise/half_elements.cuh>. Converts 16-bit floats in memory
// to float and back, rounded to nearest, ties to even.

__device__ __forceinline__ float widened(Half x) { return spanwise::half_to_float(x.bits); }
__device__ __forceinline__ float widened(BFloat x) { return spanwise::bfloat16_to_float(x.bits); }
// Of a float or a double; a double is rounded once, not by way of float.
template <class T>
__device__ __forceinline__ Half narrow_half(T x) {
  const Half z = {spanwise::half_bits(x)};
  return z;
}
template <class T>
__device__ __forceinline__ BFloat narrow_bfloat(T x) {
  const BFloat z = {spanwise::bfloat16_bits(x)};
  return z;
}
