// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// What the kernels of reductions and scans share on a GPU. reduce_kernels.cpp defines before this
// text: the types E of an element, Z of the result and C of a subtrahend; Body; Index, for
// counting; and, as 0 or 1 or a number, FORM (of CudaShape::Form), KEPT and REDUCED (numbers of
// axes), GROUP (threads that share an output), WIDTH (elements in an access of 16 bytes),
// GIVES_INDEX, HAS_MASK, HAS_PARAM, OWN_MEAN (of deviations: their mean is found first),
// HAS_DIVISORS, HAS_INITIAL, FINISH (of reduce_job.hpp), IS_PACKED (lines of a scan are read and
// written as packs), IS_PIPELINED (of those, by scan_pipeline.cuh), OPERANDS (number of operands of
// computed elements; 0 for those of an array).
//
// Which elements a thread combines, and in which order partial results are combined, depends on the
// shape alone.

typedef Body::Acc A;
typedef Body::Param P;
#define BLOCK 256
#define BATCH 4

// The layout of JobAxis of reduce_job.hpp, followed by OperandStrides.
struct JobAxis {
  long long extent, input, result, mask, subtrahend, divisor, index;
#if OPERANDS
  long long operand[OPERANDS];
#endif
};
struct JobAxes {
  JobAxis axis[KEPT + REDUCED];
};
struct JobOffsets {
  long long input, result, mask, subtrahend, divisor, index;
#if OPERANDS
  long long operand[OPERANDS];
#endif
};

__device__ __forceinline__ void move(JobOffsets& at, const JobAxis& axis, Index steps) {
  at.input += axis.input * (long long)steps;
  at.result += axis.result * (long long)steps;
  at.mask += axis.mask * (long long)steps;
  at.subtrahend += axis.subtrahend * (long long)steps;
  at.divisor += axis.divisor * (long long)steps;
  at.index += axis.index * (long long)steps;
#if OPERANDS
#pragma unroll
  for (int k = 0; k < OPERANDS; ++k) at.operand[k] += axis.operand[k] * (long long)steps;
#endif
}
// The kept axes come first, then the reduced ones.
__device__ __forceinline__ JobOffsets kept_at(const JobAxes& axes, Index index) {
  JobOffsets at = {};
#pragma unroll
  for (int k = KEPT - 1; k >= 0; --k) {
    const Index extent = (Index)axes.axis[k].extent;
    move(at, axes.axis[k], k > 0 ? index % extent : index);
    index = k > 0 ? index / extent : 0;
  }
  return at;
}
__device__ __forceinline__ void move_reduced(JobOffsets& at, const JobAxes& axes, Index index) {
#pragma unroll
  for (int k = KEPT + REDUCED - 1; k >= KEPT; --k) {
    const Index extent = (Index)axes.axis[k].extent;
    move(at, axes.axis[k], k > KEPT ? index % extent : index);
    index = k > KEPT ? index / extent : 0;
  }
}

// ---- combining the accumulators of threads

// `x` with each of its words replaced by `shuffle` of it.
template <class T, class Shuffle>
__device__ __forceinline__ T shuffled(T x, const Shuffle& shuffle) {
  union {
    T value;
    unsigned int words[(sizeof(T) + 3) / 4];
  } u;
  u.words[(sizeof(T) + 3) / 4 - 1] = 0;
  u.value = x;
#pragma unroll
  for (int i = 0; i < (int)((sizeof(T) + 3) / 4); ++i) u.words[i] = shuffle(u.words[i]);
  return u.value;
}
template <class T>
__device__ __forceinline__ T shuffle_down(T x, int distance) {
  return shuffled(x,
                  [&](unsigned int word) { return __shfl_down_sync(0xffffffffu, word, distance); });
}
template <class T>
__device__ __forceinline__ T shuffle_from(T x, int lane) {
  return shuffled(x, [&](unsigned int word) { return __shfl_sync(0xffffffffu, word, lane); });
}
// Combines the accumulators of each group of `group` threads; the first thread of the group gets
// the result. All threads of the block call it; a group of more than a warp is the whole block.
template <class B, int group>
__device__ __forceinline__ typename B::Acc reduce_group(typename B::Acc a) {
#pragma unroll
  for (int distance = (group < 32 ? group : 32) / 2; distance > 0; distance /= 2)
    a = B::combine(a, shuffle_down(a, distance));
  if (group > 32) {
    __shared__ typename B::Acc warp_results[BLOCK / 32];
    if (threadIdx.x % 32 == 0) warp_results[threadIdx.x / 32] = a;
    __syncthreads();
    if (threadIdx.x == 0)
      for (int i = 1; i < BLOCK / 32; ++i) a = B::combine(a, warp_results[i]);
  }
  return a;
}

// ---- storing results

template <class R>
struct Store {
  template <class T>
  static __device__ __forceinline__ R from(T x) {
    return (R)x;
  }
  template <class T>
  static __device__ __forceinline__ R from(IndexedValue<T> x) {
    return (R)x.index;
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
    Half z = {spanwise::half_bits(x)};
    return z;
  }
};
template <>
struct Store<BFloat> {
  template <class T>
  static __device__ __forceinline__ BFloat from(T x) {
    BFloat z = {spanwise::bfloat16_bits(x)};
    return z;
  }
};
template <>
struct Store<Bool> {
  static __device__ __forceinline__ Bool from(unsigned char x) {
    Bool z = {x};
    return z;
  }
};

__device__ __forceinline__ double divided(double x, double n) { return x / n; }
__device__ __forceinline__ double divided(unsigned long long x, double n) {
  return (double)(long long)x / n;
}
__device__ __forceinline__ Complex<double> divided(Complex<double> x, double n) {
  Complex<double> z = {x.re / n, x.im / n};
  return z;
}
template <class T>
__device__ __forceinline__ T difference(T x, T y) {
  return (T)(x - y);
}
template <class T>
__device__ __forceinline__ Complex<T> difference(Complex<T> x, Complex<T> y) {
  Complex<T> z = {x.re - y.re, x.im - y.im};
  return z;
}

#if FORM < 3  // parameters and final step of reductions
struct OperandBytes {
  unsigned long long words[2];  // an address, or the bytes of a number
};
struct JobArrays {
  const E* input;
  const unsigned char* mask;
  const C* subtrahend;
  const double* divisors;
  Z* result;
  double divisor, correction;
#if OPERANDS
  OperandBytes operands[OPERANDS];
#endif
#if HAS_INITIAL
  A initial;
#endif
};

// The number of elements of an output.
__device__ __forceinline__ double count_at(const JobArrays& arrays, const JobOffsets& at) {
#if HAS_DIVISORS
  return arrays.divisors[at.divisor];
#else
  return arrays.divisor;
#endif
}

__device__ __forceinline__ void finish_output(const JobArrays& arrays, const JobAxes& axes,
                                              Index output, A a) {
  const JobOffsets at = kept_at(axes, output);
#if HAS_INITIAL
  a = Body::combine(a, arrays.initial);
#elif IS_SUM
  a = Body::combine(a, AsAccumulator<A>::from(0));
#endif
#if FINISH == 0
  arrays.result[at.result] = Store<Z>::from(a);
#elif FINISH == 3
  arrays.result[at.result] =
      Store<Z>::from(difference(a, AsAccumulator<A>::from(arrays.subtrahend[at.subtrahend])));
#else
  double n = count_at(arrays, at) - arrays.correction;
  if (arrays.correction != 0 && n < 0) n = 0;
#if FINISH == 2
  arrays.result[at.result] = Store<Z>::from(sqrt(divided(a, n)));
#else
  arrays.result[at.result] = Store<Z>::from(divided(a, n));
#endif
#endif
}

__device__ __forceinline__ P param_at(const JobArrays& arrays, const JobOffsets& at) {
#if HAS_PARAM
  return arrays.subtrahend[at.subtrahend];
#else
  return P();
#endif
}

// How the elements of an output are split; if there are several pieces, each gives a partial
// result.
struct OutputSplit {
  long long outputs, elements, piece, pieces;
};
#endif

#if FORM < 3 && !OPERANDS
// How reductions read the elements of an array: one, or WIDTH that are next to each other along the
// last reduced axis (form 1) or the last kept one (form 2), at an aligned address.
// reduce_kernels.cpp writes the same functions for computed elements.

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
#endif
