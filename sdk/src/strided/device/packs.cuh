// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// Accesses to n elements along the last axis, of which `count` exist.

namespace spanwise {

__device__ __forceinline__ int elements_left(long long left, int side) {
  return left < side ? (int)left : side;
}

// Elements with stride `step`, which may be negative.
template <int n, class T>
__device__ __forceinline__ void read_strided(Pack<T, n>& p, const T* a, long long step, int count) {
#pragma unroll
  for (int k = 0; k < n; ++k)
    if (k < count) p.x[k] = a[k * step];
}
// Adjacent elements; a complete pack is aligned as a whole.
template <int n, class T>
__device__ __forceinline__ void read_contiguous(Pack<T, n>& p, const T* a, int count) {
  if (count >= n)
    p = load_pack<n>(a);
  else
    read_strided(p, a, 1, count);
}
// Adjacent elements from `a` backwards; a complete pack is aligned and reversed in registers.
template <int n, class T>
__device__ __forceinline__ void read_reversed(Pack<T, n>& p, const T* a, int count) {
  if (count >= n) {
    const Pack<T, n> whole = load_pack<n>(a - (n - 1));
#pragma unroll
    for (int k = 0; k < n; ++k) p.x[k] = whole.x[n - 1 - k];
  } else {
    read_strided(p, a, -1, count);
  }
}
template <int n, class T>
__device__ __forceinline__ void write_strided(T* z, const Pack<T, n>& q, long long step,
                                              int count) {
#pragma unroll
  for (int k = 0; k < n; ++k)
    if (k < count) z[k * step] = q.x[k];
}
template <int n, class T>
__device__ __forceinline__ void write_contiguous(T* z, const Pack<T, n>& q, int count) {
  if (count >= n)
    store_pack(z, q);
  else
    write_strided(z, q, 1, count);
}

}  // namespace spanwise
