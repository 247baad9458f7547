// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// How a thread reads and writes WIDTH elements along the last axis, `count` of which are there.

template <class T, int n>
struct alignas(sizeof(T) * n) Some {
  T x[n];
};

// What one instruction moves: a compiler may take a copy of Some for many small ones.
template <int bytes>
struct Whole;
template <>
struct Whole<16> {
  typedef uint4 type;
};
template <>
struct Whole<8> {
  typedef uint2 type;
};
template <>
struct Whole<4> {
  typedef unsigned int type;
};
template <>
struct Whole<2> {
  typedef unsigned short type;
};
template <>
struct Whole<1> {
  typedef unsigned char type;
};
template <class T, int n>
__device__ __forceinline__ Some<T, n> read_whole(const T* place) {
  const typename Whole<(int)sizeof(T) * n>::type whole =
      *(const typename Whole<(int)sizeof(T) * n>::type*)place;
  Some<T, n> some;
  memcpy(&some, &whole, sizeof(some));
  return some;
}
template <class T, int n>
__device__ __forceinline__ void write_whole(T* place, const Some<T, n>& some) {
  typename Whole<(int)sizeof(T) * n>::type whole;
  memcpy(&whole, &some, sizeof(some));
  __stwb((typename Whole<(int)sizeof(T) * n>::type*)place, whole);
}

// `step` apart, which may be negative.
template <class T>
__device__ __forceinline__ void read_apart(Some<T, WIDTH>& p, const T* a, long long step,
                                           int count) {
#pragma unroll
  for (int k = 0; k < WIDTH; ++k)
    if (k < count) p.x[k] = a[k * step];
}
// One after the other, the whole aligned; an element alone only as its own parts are.
template <class T>
__device__ __forceinline__ void read_run(Some<T, WIDTH>& p, const T* a, int count) {
  if (WIDTH > 1 && count >= WIDTH)
    p = read_whole<T, WIDTH>(a);
  else
    read_apart(p, a, 1, count);
}
// From `a` backwards, the whole aligned: turned in registers.
template <class T>
__device__ __forceinline__ void read_turned(Some<T, WIDTH>& p, const T* a, int count) {
  if (WIDTH > 1 && count >= WIDTH) {
    const Some<T, WIDTH> whole = read_whole<T, WIDTH>(a - (WIDTH - 1));
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) p.x[k] = whole.x[WIDTH - 1 - k];
  } else {
    read_apart(p, a, -1, count);
  }
}
template <class T>
__device__ __forceinline__ void write_run(T* z, const Some<T, WIDTH>& q, int count) {
  if (WIDTH > 1 && count >= WIDTH) {
    write_whole(z, q);
    return;
  }
#pragma unroll
  for (int k = 0; k < WIDTH; ++k)
    if (k < count) z[k] = q.x[k];
}
