// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// How a thread reads and writes WIDTH elements along the last axis, `count` of which are there.

// `step` apart, which may be negative.
template <class T>
__device__ __forceinline__ void read_apart(spanwise::Pack<T, WIDTH>& p, const T* a, long long step,
                                           int count) {
#pragma unroll
  for (int k = 0; k < WIDTH; ++k)
    if (k < count) p.x[k] = a[k * step];
}
// One after the other, the whole aligned; an element alone only as its own parts are.
template <class T>
__device__ __forceinline__ void read_run(spanwise::Pack<T, WIDTH>& p, const T* a, int count) {
  if (WIDTH > 1 && count >= WIDTH)
    p = spanwise::load_pack<WIDTH>(a);
  else
    read_apart(p, a, 1, count);
}
// From `a` backwards, the whole aligned: turned in registers.
template <class T>
__device__ __forceinline__ void read_turned(spanwise::Pack<T, WIDTH>& p, const T* a, int count) {
  if (WIDTH > 1 && count >= WIDTH) {
    const spanwise::Pack<T, WIDTH> whole = spanwise::load_pack<WIDTH>(a - (WIDTH - 1));
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) p.x[k] = whole.x[WIDTH - 1 - k];
  } else {
    read_apart(p, a, -1, count);
  }
}
template <class T>
__device__ __forceinline__ void write_run(T* z, const spanwise::Pack<T, WIDTH>& q, int count) {
  if (WIDTH > 1 && count >= WIDTH) {
    spanwise::store_pack(z, q);
    return;
  }
#pragma unroll
  for (int k = 0; k < WIDTH; ++k)
    if (k < count) z[k] = q.x[k];
}
