// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Atomic<How, T>::apply(target, value): the accumulation of one element on a GPU, by the operations
// of accumulate.cuh.

// Accumulates by a compare-and-swap loop. The element is part of a word W, `shift` bits from its
// lowest bit; other threads may change the other bytes at the same time.
template <class How, class W, class T>
__device__ void compare_and_swap(W* word, unsigned shift, T value) {
  union Element {
    W bits;
    T value;
  };
  const W mask = ((W) ~(W)0 >> (8 * (sizeof(W) - sizeof(T)))) << shift;
  W seen = *(volatile W*)word, before;
  do {
    before = seen;
    Element old, now;
    old.bits = (before & mask) >> shift;
    now.bits = 0;
    now.value = accumulated<How>(old.value, value);
    if (now.bits == old.bits) return;
    seen = atomicCAS(word, before, (W)((before & ~mask) | (now.bits << shift)));
  } while (seen != before);
}

// Elements of 1 or 2 bytes are swapped as part of the aligned 4-byte word.
template <class How, class T>
struct Atomic {
  static __device__ void apply(T* target, T value) {
    if constexpr (sizeof(T) == 8) {
      compare_and_swap<How>((unsigned long long*)target, 0u, value);
    } else if constexpr (sizeof(T) == 4) {
      compare_and_swap<How>((unsigned*)target, 0u, value);
    } else {
      const unsigned long long address = (unsigned long long)target;
      compare_and_swap<How>((unsigned*)(address & ~3ull), (unsigned)(address & 3ull) * 8u, value);
    }
  }
};

#define SW_NATIVE(How, T, function)                                               \
  template <>                                                                     \
  struct Atomic<How, T> {                                                         \
    static __device__ void apply(T* target, T value) { function(target, value); } \
  };
SW_NATIVE(Plus, unsigned, atomicAdd)
SW_NATIVE(Plus, unsigned long long, atomicAdd)
SW_NATIVE(Plus, float, atomicAdd)
SW_NATIVE(Plus, double, atomicAdd)
SW_NATIVE(Largest, int, atomicMax)
SW_NATIVE(Largest, unsigned, atomicMax)
SW_NATIVE(Largest, long long, atomicMax)
SW_NATIVE(Largest, unsigned long long, atomicMax)
SW_NATIVE(Smallest, int, atomicMin)
SW_NATIVE(Smallest, unsigned, atomicMin)
SW_NATIVE(Smallest, long long, atomicMin)
SW_NATIVE(Smallest, unsigned long long, atomicMin)
#undef SW_NATIVE

// The real and imaginary part are added separately.
template <class T>
struct Atomic<Plus, Complex<T> > {
  static __device__ void apply(Complex<T>* target, Complex<T> value) {
    atomicAdd(&target->re, value.re);
    atomicAdd(&target->im, value.im);
  }
};

template <class T>
__device__ __forceinline__ T negated(T x) {
  return (T)(-x);
}
__device__ __forceinline__ unsigned negated(unsigned x) { return 0u - x; }
__device__ __forceinline__ unsigned long long negated(unsigned long long x) { return 0ull - x; }
template <class T>
__device__ __forceinline__ Complex<T> negated(Complex<T> x) {
  const Complex<T> z = {-x.re, -x.im};
  return z;
}
#define SW_NEGATED(T)                                  \
  template <>                                          \
  struct Atomic<Minus, T> {                            \
    static __device__ void apply(T* target, T value) { \
      Atomic<Plus, T>::apply(target, negated(value));  \
    }                                                  \
  };
SW_NEGATED(unsigned)
SW_NEGATED(unsigned long long)
SW_NEGATED(float)
SW_NEGATED(double)
SW_NEGATED(Complex<float>)
SW_NEGATED(Complex<double>)
#undef SW_NEGATED

// Accumulating into a bool either sets it to 1 (add, maximum) or to 0 (multiply, minimum), never
// both, so concurrent writes have the same value and need no atomic function.
#define SW_BOOL(How, changes, result)                        \
  template <>                                                \
  struct Atomic<How, Bool> {                                 \
    static __device__ void apply(Bool* target, Bool value) { \
      if (changes) target->byte = result;                    \
    }                                                        \
  };
SW_BOOL(Plus, value.byte != 0, 1)
SW_BOOL(Largest, value.byte != 0, 1)
SW_BOOL(Times, value.byte == 0, 0)
SW_BOOL(Smallest, value.byte == 0, 0)
#undef SW_BOOL
