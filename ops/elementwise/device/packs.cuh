// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Reads and writes WIDTH elements along the last axis, of which `count` exist.

// Elements with stride `step`, which may be negative.
template <class T>
__device__ __forceinline__ void read_strided(spanwise::Pack<T, WIDTH>& p, const T* a,
                                             long long step, int count) {
#pragma unroll
  for (int k = 0; k < WIDTH; ++k)
    if (k < count) p.x[k] = a[k * step];
}
// Adjacent elements; a complete pack is aligned as a whole.
template <class T>
__device__ __forceinline__ void read_contiguous(spanwise::Pack<T, WIDTH>& p, const T* a,
                                                int count) {
  if (WIDTH > 1 && count >= WIDTH)
    p = spanwise::load_pack<WIDTH>(a);
  else
    read_strided(p, a, 1, count);
}
// Adjacent elements from `a` backwards; a complete pack is aligned and reversed in registers.
template <class T>
__device__ __forceinline__ void read_reversed(spanwise::Pack<T, WIDTH>& p, const T* a, int count) {
  if (WIDTH > 1 && count >= WIDTH) {
    const spanwise::Pack<T, WIDTH> whole = spanwise::load_pack<WIDTH>(a - (WIDTH - 1));
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) p.x[k] = whole.x[WIDTH - 1 - k];
  } else {
    read_strided(p, a, -1, count);
  }
}
template <class T>
__device__ __forceinline__ void write_contiguous(T* z, const spanwise::Pack<T, WIDTH>& q,
                                                 int count) {
  if (WIDTH > 1 && count >= WIDTH) {
    spanwise::store_pack(z, q);
    return;
  }
#pragma unroll
  for (int k = 0; k < WIDTH; ++k)
    if (k < count) z[k] = q.x[k];
}
