// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Reductions and scans on a GPU. cuda_source.cpp writes before this text: E, what an element is; Z,
// what the result is; C, what a companion is; Body; Index, which counts; and, as 0 or 1 or a
// number, KEPT and GONE (axes), GROUP (threads that share an output), WIDTH (elements in an access
// of 16 bytes), IS_PLACE, HAS_MASK, HAS_PARAM, HAS_DIVISORS, HAS_INITIAL, FINISH (of kinds.hpp).
//
// No atomics: which elements a thread adds up, and in which order parts are joined, depends on the
// shape alone.

typedef Body::Acc A;
typedef Body::Param P;
#define BLOCK 256
#define BATCH 4

// As JobAxis of geometry.hpp.
struct Axis {
  long long extent, input, result, mask, companion, divisor, place;
};
struct Axes {
  Axis axis[KEPT + GONE];
};
struct Offsets {
  long long input, result, mask, companion, divisor, place;
};

__device__ __forceinline__ void move(Offsets& at, const Axis& axis, Index steps) {
  at.input += axis.input * (long long)steps;
  at.result += axis.result * (long long)steps;
  at.mask += axis.mask * (long long)steps;
  at.companion += axis.companion * (long long)steps;
  at.divisor += axis.divisor * (long long)steps;
  at.place += axis.place * (long long)steps;
}
// Kept axes first, then those that go.
__device__ __forceinline__ Offsets kept_at(const Axes& axes, Index index) {
  Offsets at = {0, 0, 0, 0, 0, 0};
#pragma unroll
  for (int k = KEPT - 1; k >= 0; --k) {
    const Index extent = (Index)axes.axis[k].extent;
    move(at, axes.axis[k], k > 0 ? index % extent : index);
    index = k > 0 ? index / extent : 0;
  }
  return at;
}
__device__ __forceinline__ void move_gone(Offsets& at, const Axes& axes, Index index) {
#pragma unroll
  for (int k = KEPT + GONE - 1; k >= KEPT; --k) {
    const Index extent = (Index)axes.axis[k].extent;
    move(at, axes.axis[k], k > KEPT ? index % extent : index);
    index = k > KEPT ? index / extent : 0;
  }
}

// ---- joining what threads have

template <class T>
__device__ __forceinline__ T from_lane_below(T x, int distance) {
  union {
    T value;
    unsigned int words[(sizeof(T) + 3) / 4];
  } u;
  u.words[(sizeof(T) + 3) / 4 - 1] = 0;
  u.value = x;
#pragma unroll
  for (int i = 0; i < (int)((sizeof(T) + 3) / 4); ++i)
    u.words[i] = __shfl_down_sync(0xffffffffu, u.words[i], distance);
  return u.value;
}
// The first thread of each group of `group` gets the group's. All threads of the block call it; a
// group of more than a warp is the whole block.
template <int group>
__device__ __forceinline__ A joined(A a) {
#pragma unroll
  for (int distance = (group < 32 ? group : 32) / 2; distance > 0; distance /= 2)
    a = Body::combine(a, from_lane_below(a, distance));
  if (group > 32) {
    __shared__ A of_warps[BLOCK / 32];
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = a;
    __syncthreads();
    if (threadIdx.x == 0)
      for (int i = 1; i < BLOCK / 32; ++i) a = Body::combine(a, of_warps[i]);
  }
  return a;
}

// ---- what is written

__device__ __forceinline__ Half half_of(float x) {
  Half y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
}
__device__ __forceinline__ Half half_of(double x) {
  Half y;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(y.bits) : "d"(x));
  return y;
}
__device__ __forceinline__ BFloat bfloat_of(float x) {
  const unsigned int word = __float_as_uint(x);
  BFloat y;
  y.bits = (word & 0x7fffffffu) > 0x7f800000u
               ? (unsigned short)((word >> 16) | 0x40u)
               : (unsigned short)((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  return y;
}
// Cut, with what was cut off in the last bit: so the second rounding is right.
__device__ __forceinline__ BFloat bfloat_of(double x) {
  const float cut = __double2float_rz(x);
  const bool is_inexact = (double)cut != x && x == x;
  return bfloat_of(is_inexact ? __uint_as_float(__float_as_uint(cut) | 1u) : cut);
}
template <class R>
struct Store {
  template <class T>
  static __device__ __forceinline__ R from(T x) {
    return (R)x;
  }
  template <class T>
  static __device__ __forceinline__ R from(Placed<T> x) {
    return (R)x.place;
  }
};
template <class R>
struct Store<Complex<R> > {
  template <class T>
  static __device__ __forceinline__ Complex<R> from(Complex<T> x) {
    Complex<R> z = {(R)x.re, (R)x.im};
    return z;
  }
};
template <>
struct Store<Half> {
  template <class T>
  static __device__ __forceinline__ Half from(T x) {
    return half_of(x);
  }
};
template <>
struct Store<BFloat> {
  template <class T>
  static __device__ __forceinline__ BFloat from(T x) {
    return bfloat_of(x);
  }
};
template <>
struct Store<Bool> {
  static __device__ __forceinline__ Bool from(unsigned char x) {
    Bool z = {x};
    return z;
  }
};

__device__ __forceinline__ double over(double x, double n) { return x / n; }
__device__ __forceinline__ double over(unsigned long long x, double n) {
  return (double)(long long)x / n;
}
__device__ __forceinline__ Complex<double> over(Complex<double> x, double n) {
  Complex<double> z = {x.re / n, x.im / n};
  return z;
}
template <class T>
__device__ __forceinline__ T less(T x, T y) {
  return (T)(x - y);
}
template <class T>
__device__ __forceinline__ Complex<T> less(Complex<T> x, Complex<T> y) {
  Complex<T> z = {x.re - y.re, x.im - y.im};
  return z;
}

struct Arrays {
  const E* input;
  const unsigned char* mask;
  const C* companion;
  const double* divisors;
  Z* result;
  double divisor, correction;
#if HAS_INITIAL
  A initial;
#endif
};

__device__ __forceinline__ void deliver(const Arrays& arrays, const Axes& axes, Index output, A a) {
  const Offsets at = kept_at(axes, output);
#if HAS_INITIAL
  a = Body::combine(a, arrays.initial);
#endif
#if FINISH == 0
  arrays.result[at.result] = Store<Z>::from(a);
#elif FINISH == 3
  arrays.result[at.result] = Store<Z>::from(less(a, To<A>::from(arrays.companion[at.companion])));
#else
#if HAS_DIVISORS
  double n = arrays.divisors[at.divisor] - arrays.correction;
#else
  double n = arrays.divisor - arrays.correction;
#endif
  if (arrays.correction != 0 && n < 0) n = 0;
#if FINISH == 2
  arrays.result[at.result] = Store<Z>::from(sqrt(over(a, n)));
#else
  arrays.result[at.result] = Store<Z>::from(over(a, n));
#endif
#endif
}

__device__ __forceinline__ P param_at(const Arrays& arrays, const Offsets& at) {
#if HAS_PARAM
  return arrays.companion[at.companion];
#else
  return P();
#endif
}

// How the elements of an output are cut; each piece becomes a part where there are several.
struct Cut {
  long long outputs, elements, piece, pieces;
};

// ---- reductions

#if FORM == 0
// Any layout. One element after the other, counted over the axes that go.
__device__ __forceinline__ A element_at(const Arrays& arrays, const Axes& axes, Offsets at, Index i,
                                        P p) {
  move_gone(at, axes, i);
#if HAS_MASK
  if (!arrays.mask[at.mask]) return Body::identity();
#endif
#if IS_PLACE
  return Body::lift(arrays.input[at.input], p, at.place);
#else
  return Body::lift(arrays.input[at.input], p);
#endif
}
__device__ __forceinline__ A piece_of(const Arrays& arrays, const Axes& axes, Offsets at,
                                      long long first, long long last, int lane) {
  const P p = param_at(arrays, at);
  A a[BATCH];
#pragma unroll
  for (int k = 0; k < BATCH; ++k) a[k] = Body::identity();
  long long i = first + lane;
  for (; i + (BATCH - 1) * GROUP < last; i += BATCH * GROUP)
#pragma unroll
    for (int k = 0; k < BATCH; ++k)
      a[k] = Body::combine(a[k], element_at(arrays, axes, at, (Index)(i + k * GROUP), p));
  for (; i < last; i += GROUP)
    a[0] = Body::combine(a[0], element_at(arrays, axes, at, (Index)i, p));
#pragma unroll
  for (int k = 1; k < BATCH; ++k) a[0] = Body::combine(a[0], a[k]);
  return a[0];
}
#endif

#if FORM == 1
// Elements one after the other in memory, 16 bytes at a time from where that is aligned.
union Pack {
  uint4 words;
  E x[WIDTH];
};
// Element i of a piece.
#if IS_PLACE
#define LIFT(x, i) Body::lift(x, p, at.place + (first + (i)) * axes.axis[KEPT].place)
#else
#define LIFT(x, i) Body::lift(x, p)
#endif
__device__ __forceinline__ A piece_of(const Arrays& arrays, const Axes& axes, Offsets at,
                                      long long first, long long last, int lane) {
  const P p = param_at(arrays, at);
  const E* x = arrays.input + at.input + first;
  const long long n = last - first;
  long long head = (long long)((16 - ((unsigned long long)x & 15)) & 15) / (long long)sizeof(E);
  if (head > n) head = n;
  A a[BATCH];
#pragma unroll
  for (int k = 0; k < BATCH; ++k) a[k] = Body::identity();
  for (long long i = lane; i < head; i += GROUP) a[0] = Body::combine(a[0], LIFT(x[i], i));
  const uint4* packs = (const uint4*)(x + head);
  const long long count = (n - head) / WIDTH;
  long long i = lane;
  for (; i + (BATCH - 1) * GROUP < count; i += BATCH * GROUP) {
    Pack pack[BATCH];
#pragma unroll
    for (int k = 0; k < BATCH; ++k) pack[k].words = packs[i + k * GROUP];
#pragma unroll
    for (int k = 0; k < BATCH; ++k)
#pragma unroll
      for (int w = 0; w < WIDTH; ++w)
        a[k] = Body::combine(a[k], LIFT(pack[k].x[w], head + (i + k * GROUP) * WIDTH + w));
  }
  for (; i < count; i += GROUP) {
    Pack pack;
    pack.words = packs[i];
#pragma unroll
    for (int w = 0; w < WIDTH; ++w)
      a[0] = Body::combine(a[0], LIFT(pack.x[w], head + i * WIDTH + w));
  }
  for (long long j = head + count * WIDTH + lane; j < n; j += GROUP)
    a[0] = Body::combine(a[0], LIFT(x[j], j));
#pragma unroll
  for (int k = 1; k < BATCH; ++k) a[0] = Body::combine(a[0], a[k]);
  return a[0];
}
#endif

#if FORM == 0 || FORM == 1
extern "C" __global__ void __launch_bounds__(BLOCK)
    run(const Arrays arrays, A* parts, const Axes axes, const Cut cut) {
  const long long task = (long long)blockIdx.x * (BLOCK / GROUP) + threadIdx.x / GROUP;
  const int lane = threadIdx.x % GROUP;
  const bool is_there = task < cut.outputs * cut.pieces;
  // Neighbouring groups have neighbouring outputs, which may be neighbours in memory.
  const long long output = is_there ? task % cut.outputs : 0,
                  piece = is_there ? task / cut.outputs : 0;
  A a = Body::identity();
  if (is_there) {
    const long long first = piece * cut.piece;
    long long last = first + cut.piece;
    if (last > cut.elements) last = cut.elements;
    a = piece_of(arrays, axes, kept_at(axes, (Index)output), first, last, lane);
  }
  a = joined<GROUP>(a);
  if (!is_there || lane != 0) return;
  if (cut.pieces == 1)
    deliver(arrays, axes, (Index)output, a);
  else
    parts[output * cut.pieces + piece] = a;
}
#endif

#if FORM == 2
// The axis of the shortest steps stays: a thread has WIDTH outputs beside one another, and each of
// ROWS threads every ROWS-th row of them.
#define COLUMNS 32
#define ROWS (BLOCK / COLUMNS)
union Pack {
#if WIDTH > 1
  uint4 words;
#endif
  E x[WIDTH];
};
__device__ __forceinline__ Pack row_at(const Arrays& arrays, const Axes& axes, Offsets at,
                                       Index row) {
  move_gone(at, axes, row);
  Pack pack;
#if WIDTH > 1
  pack.words = *(const uint4*)(arrays.input + at.input);
#else
  pack.x[0] = arrays.input[at.input];
#endif
  return pack;
}
extern "C" __global__ void __launch_bounds__(BLOCK)
    run(const Arrays arrays, A* parts, const Axes axes, const Cut cut) {
  const long long columns = axes.axis[KEPT - 1].extent;
  const long long tiles = (columns + COLUMNS * WIDTH - 1) / (COLUMNS * WIDTH);
  const long long piece = blockIdx.x % cut.pieces, tile = blockIdx.x / cut.pieces;
  const int x = threadIdx.x % COLUMNS, y = threadIdx.x / COLUMNS;
  const long long column = (tile % tiles * COLUMNS + x) * WIDTH;
  const long long output = tile / tiles * columns + column;
  // WIDTH divides the columns, so that a thread has all of its outputs or none.
  const bool is_there = column < columns;
  A a[WIDTH];
#pragma unroll
  for (int w = 0; w < WIDTH; ++w) a[w] = Body::identity();
  if (is_there) {
    P p[WIDTH];
#pragma unroll
    for (int w = 0; w < WIDTH; ++w) p[w] = param_at(arrays, kept_at(axes, (Index)(output + w)));
    const Offsets at = kept_at(axes, (Index)output);
    long long last = (piece + 1) * cut.piece;
    if (last > cut.elements) last = cut.elements;
    long long row = piece * cut.piece + y;
    for (; row + (BATCH - 1) * ROWS < last; row += BATCH * ROWS) {
      Pack pack[BATCH];
#pragma unroll
      for (int k = 0; k < BATCH; ++k) pack[k] = row_at(arrays, axes, at, (Index)(row + k * ROWS));
#pragma unroll
      for (int k = 0; k < BATCH; ++k)
#pragma unroll
        for (int w = 0; w < WIDTH; ++w) a[w] = Body::combine(a[w], Body::lift(pack[k].x[w], p[w]));
    }
    for (; row < last; row += ROWS) {
      const Pack pack = row_at(arrays, axes, at, (Index)row);
#pragma unroll
      for (int w = 0; w < WIDTH; ++w) a[w] = Body::combine(a[w], Body::lift(pack.x[w], p[w]));
    }
  }
  __shared__ A of_rows[ROWS][COLUMNS * WIDTH];
#pragma unroll
  for (int w = 0; w < WIDTH; ++w) of_rows[y][w * COLUMNS + x] = a[w];
  __syncthreads();
  if (y != 0 || !is_there) return;
#pragma unroll
  for (int w = 0; w < WIDTH; ++w) {
    A sum = of_rows[0][w * COLUMNS + x];
    for (int r = 1; r < ROWS; ++r) sum = Body::combine(sum, of_rows[r][w * COLUMNS + x]);
    if (cut.pieces == 1)
      deliver(arrays, axes, (Index)(output + w), sum);
    else
      parts[(output + w) * cut.pieces + piece] = sum;
  }
}
#endif

#if FORM < 3
// Joins the parts of each output, a warp for each.
extern "C" __global__ void __launch_bounds__(BLOCK)
    fold(const Arrays arrays, const A* parts, const Axes axes, const Cut cut) {
  const long long output = (long long)blockIdx.x * (BLOCK / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const bool is_there = output < cut.outputs;
  A a = Body::identity();
  if (is_there)
    for (long long i = lane; i < cut.pieces; i += 32)
      a = Body::combine(a, parts[output * cut.pieces + i]);
  a = joined<32>(a);
  if (is_there && lane == 0) deliver(arrays, axes, (Index)output, a);
}
#endif

// ---- scans

#if FORM == 3
// A line, cut in chunks of BLOCK * EACH elements.
#define EACH 8
struct Line {
  long long lines, length, step, result_step, chunks;
};

// What the threads before this one have, and (in `all`) what the block has.
__device__ __forceinline__ A before_thread(A a, A& all) {
  __shared__ A sums[2][BLOCK];
  int now = 0;
  sums[0][threadIdx.x] = a;
  __syncthreads();
  for (int distance = 1; distance < BLOCK; distance *= 2) {
    A sum = sums[now][threadIdx.x];
    if ((int)threadIdx.x >= distance) sum = Body::combine(sums[now][threadIdx.x - distance], sum);
    sums[1 - now][threadIdx.x] = sum;
    now = 1 - now;
    __syncthreads();
  }
  all = sums[now][BLOCK - 1];
  const A before = threadIdx.x > 0 ? sums[now][threadIdx.x - 1] : Body::identity();
  __syncthreads();
  return before;
}

// The sum of each chunk.
extern "C" __global__ void __launch_bounds__(BLOCK)
    totals(const E* input, A* parts, const Axes axes, const Line line) {
  const long long number = blockIdx.x / line.chunks, chunk = blockIdx.x % line.chunks;
  const E* x = input + kept_at(axes, (Index)number).input;
  const long long first = chunk * BLOCK * EACH;
  A a = Body::identity();
  for (int k = 0; k < EACH; ++k) {
    const long long i = first + k * BLOCK + threadIdx.x;
    if (i < line.length) a = Body::combine(a, Body::lift(x[i * line.step], P()));
  }
  a = joined<BLOCK>(a);
  if (threadIdx.x == 0) parts[blockIdx.x] = a;
}
// Each chunk's sum becomes that of the chunks before it; a block for each line.
extern "C" __global__ void __launch_bounds__(BLOCK) carries(A* parts, const Line line) {
  A* const own = parts + blockIdx.x * line.chunks;
  A carry = Body::identity();
  for (long long first = 0; first < line.chunks; first += BLOCK) {
    const long long i = first + threadIdx.x;
    A all;
    const A a = i < line.chunks ? own[i] : Body::identity();
    const A before = Body::combine(carry, before_thread(a, all));
    if (i < line.chunks) own[i] = before;
    carry = Body::combine(carry, all);
  }
}
// The sums themselves; `parts` is null where a line is one chunk.
extern "C" __global__ void __launch_bounds__(BLOCK)
    run(const E* input, Z* result, const A* parts, const Axes axes, const Line line) {
  const long long number = blockIdx.x / line.chunks, chunk = blockIdx.x % line.chunks;
  const Offsets at = kept_at(axes, (Index)number);
  const E* x = input + at.input;
  Z* z = result + at.result;
  const long long first = (chunk * BLOCK + threadIdx.x) * EACH;
  A sums[EACH], sum = Body::identity();
#pragma unroll
  for (int k = 0; k < EACH; ++k) {
    if (first + k < line.length)
      sum = Body::combine(sum, Body::lift(x[(first + k) * line.step], P()));
    sums[k] = sum;
  }
  A all, before = before_thread(sum, all);
  if (parts != nullptr) before = Body::combine(parts[blockIdx.x], before);
#pragma unroll
  for (int k = 0; k < EACH; ++k)
    if (first + k < line.length)
      z[(first + k) * line.result_step] = Store<Z>::from(Body::combine(before, sums[k]));
}
// A thread for each line, where there are many.
extern "C" __global__ void __launch_bounds__(BLOCK)
    lines(const E* input, Z* result, const Axes axes, const Line line) {
  const long long number = (long long)blockIdx.x * BLOCK + threadIdx.x;
  if (number >= line.lines) return;
  const Offsets at = kept_at(axes, (Index)number);
  A sum = Body::identity();
  for (long long i = 0; i < line.length; ++i) {
    sum = Body::combine(sum, Body::lift(input[at.input + i * line.step], P()));
    result[at.result + i * line.result_step] = Store<Z>::from(sum);
  }
}
#endif
