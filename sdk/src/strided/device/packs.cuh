// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// Reads and writes packs of n elements along the last axis, of which the first `count` exist.

namespace spanwise {

// `remaining` elements, but at most `limit`.
__device__ __forceinline__ int elements_left(long long remaining, int limit) {
  return remaining < limit ? (int)remaining : limit;
}

// Elements with stride `step`, which may be negative.
template <int n, class T>
__device__ __forceinline__ void read_strided(Pack<T, n>& p, const T* a, long long step, int count) {
#pragma unroll
  for (int k = 0; k < n; ++k)
    if (k < count) p.x[k] = a[k * step];
}
// Adjacent elements; where count >= n, `a` must have the alignment of a pack.
template <int n, class T>
__device__ __forceinline__ void read_contiguous(Pack<T, n>& p, const T* a, int count) {
  if (count >= n)
    p = load_pack<n>(a);
  else
    read_strided(p, a, 1, count);
}
// Adjacent elements from `a` backwards, reversed in registers; where count >= n, a - (n - 1) must
// have the alignment of a pack.
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
// The 16 bytes that begin `skip` bytes, 1 to 15, after the first of `low`.
__device__ __forceinline__ uint4 shifted(const uint4& low, const uint4& high, unsigned int skip) {
  unsigned int words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  // In steps, since registers cannot be indexed.
#pragma unroll
  for (int i = 0; i < 6; ++i) words[i] = skip & 8 ? words[i + 2] : words[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) words[i] = skip & 4 ? words[i + 1] : words[i];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    words[i] = (unsigned int)(((unsigned long long)words[i + 1] << 32 | words[i]) >> skip % 4 * 8);
  return make_uint4(words[0], words[1], words[2], words[3]);
}
// 16 bytes of adjacent elements of any alignment, from the two aligned words of 16 bytes that
// contain them. Both words contain bytes of the array, and memory is allocated in larger units, so
// reading them is allowed.
template <int n, class T>
__device__ __forceinline__ void read_unaligned(Pack<T, n>& p, const T* a, int count) {
  const unsigned int skip = (unsigned int)((unsigned long long)a % 16);
  if (count < n) {
    read_strided(p, a, 1, count);
  } else if (skip == 0) {
    p = load_pack<n>(a);
  } else {
    const uint4* low = (const uint4*)((const char*)a - skip);
    const uint4 value = shifted(low[0], low[1], skip);
    memcpy(&p, &value, sizeof(p));
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
