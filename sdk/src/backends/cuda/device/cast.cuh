// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// One element of any computable dtype becomes one of another as numpy.ndarray.astype does it, and
// as core/convert.hpp does it on the host, also where C leaves the result undefined. Compiled by
// NVRTC without a single header, after elements.cuh of sdk/device.

// A complex number that one access reads or writes: where casts work its place is aligned as a
// whole.
template <class T>
struct alignas(2 * sizeof(T)) WholeComplex {
  T re, im;
};

template <class To, class From>
__device__ inline To bits_as(From value) {
  static_assert(sizeof(To) == sizeof(From), "the same bytes");
  To result;
  memcpy(&result, &value, sizeof result);
  return result;
}

// ---- An element as a number to compute with: itself, or a float.

template <class T>
__device__ inline T number(T value) {
  return value;
}
__device__ inline bool number(Bool value) { return value.byte != 0; }
__device__ inline float number(BFloat value) { return bits_as<float>((unsigned)value.bits << 16); }
#ifdef __CUDA_ARCH__
__device__ inline float number(Half value) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
}
#endif
template <class T>
__device__ inline T number(WholeComplex<T> value) {
  return value.re;
}

template <class T>
__device__ inline bool is_true(T value) {
  return number(value) != 0;  // NaN is true
}
template <class T>
__device__ inline bool is_true(WholeComplex<T> value) {
  return value.re != 0 || value.im != 0;
}

// ---- Floating to integer. Out of range, and NaN, give what x86-64's conversions give: types below
// 32 bits wrap the 32-bit result, and what does not fit that is its lowest value.

template <class F>
__device__ inline int truncate_to_32(F value) {
  // The float just above -2^31 - 1 is -2^31; a double has room for fractions between them.
  const bool fits = value < (F)2147483648.0 &&
                    (sizeof(F) == 8 ? value > (F)-2147483649.0 : value >= (F)-2147483648.0);
  return fits ? (int)value : -2147483647 - 1;
}
template <class F>
__device__ inline long long truncate_to_64(F value) {
  const bool fits = value < (F)9223372036854775808.0 && value >= (F)-9223372036854775808.0;
  return fits ? (long long)value : -9223372036854775807LL - 1;
}

template <class To>
struct Truncate {
  template <class F>
  __device__ static To from(F value) {
    return (To)truncate_to_32(value);
  }
};
template <>
struct Truncate<unsigned> {
  template <class F>
  __device__ static unsigned from(F value) {
    return (unsigned)truncate_to_64(value);
  }
};
template <>
struct Truncate<long long> {
  template <class F>
  __device__ static long long from(F value) {
    return truncate_to_64(value);
  }
};
template <>
struct Truncate<unsigned long long> {
  template <class F>
  __device__ static unsigned long long from(F value) {
    const F half = (F)9223372036854775808.0;
    const bool high = value >= half;
    const unsigned long long low = truncate_to_64(high ? value - half : value);
    return high ? low ^ (1ULL << 63) : low;
  }
};

// ---- Double to a float that a second rounding, to fewer bits, rounds as it would have rounded the
// double: where inexact, the neighbour with an odd last bit.
__device__ inline float round_to_odd(double value) {
  const float nearest = (float)value;
  const unsigned bits = bits_as<unsigned>(nearest);
  if ((double)nearest == value || value != value || (bits & 1u) != 0) return nearest;
  const double magnitude = value < 0 ? -value : value;
  const double near = nearest < 0 ? -(double)nearest : (double)nearest;
  return bits_as<float>(near < magnitude ? bits + 1 : bits - 1);
}

// ---- A number as an element.

template <class To>
struct Cast {  // to an integer
  template <class From>
  __device__ static To from(From value) {
    return (To)value;
  }
  __device__ static To from(float value) { return Truncate<To>::from(value); }
  __device__ static To from(double value) { return Truncate<To>::from(value); }
};
template <>
struct Cast<float> {
  template <class From>
  __device__ static float from(From value) {
    return (float)value;
  }
};
template <>
struct Cast<double> {
  template <class From>
  __device__ static double from(From value) {
    return (double)value;
  }
};
template <>
struct Cast<BFloat> {
  __device__ static BFloat from(float value) {
    const unsigned word = bits_as<unsigned>(value);
    BFloat result;
    if ((word & 0x7fffffffu) > 0x7f800000u) {
      result.bits = (unsigned short)(word >> 16 | 0x40u);
    } else {
      result.bits = (unsigned short)((word + 0x7fffu + (word >> 16 & 1u)) >> 16);
    }
    return result;
  }
  __device__ static BFloat from(double value) { return from(round_to_odd(value)); }
  template <class From>
  __device__ static BFloat from(From value) {
    return from((float)value);
  }
};
#ifdef __CUDA_ARCH__
template <>
struct Cast<Half> {
  __device__ static Half from(float value) {
    Half result;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
  }
  __device__ static Half from(double value) {
    Half result;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(result.bits) : "d"(value));
    return result;
  }
  template <class From>
  __device__ static Half from(From value) {
    return from((float)value);
  }
};
#endif

template <class To, class From>
struct Convert {
  __device__ static To from(From value) { return Cast<To>::from(number(value)); }
};
template <class T>
struct Convert<T, T> {
  __device__ static T from(T value) { return value; }
};
template <class From>
struct Convert<Bool, From> {
  __device__ static Bool from(From value) {
    Bool result;
    result.byte = is_true(value);
    return result;
  }
};
template <>
struct Convert<Bool, Bool> {
  __device__ static Bool from(Bool value) { return value; }
};
template <class T, class From>
struct Convert<WholeComplex<T>, From> {
  __device__ static WholeComplex<T> from(From value) {
    WholeComplex<T> result;
    result.re = Cast<T>::from(number(value));
    result.im = 0;
    return result;
  }
};
template <class T, class From>
struct Convert<WholeComplex<T>, WholeComplex<From>> {
  __device__ static WholeComplex<T> from(WholeComplex<From> value) {
    WholeComplex<T> result;
    result.re = (T)value.re;
    result.im = (T)value.im;
    return result;
  }
};
template <class T>
struct Convert<WholeComplex<T>, WholeComplex<T>> {
  __device__ static WholeComplex<T> from(WholeComplex<T> value) { return value; }
};
