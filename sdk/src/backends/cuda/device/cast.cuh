// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Converts one element from any computable dtype to any other as numpy.ndarray.astype does, and as
// core/convert.hpp does on the host, including conversions whose result C leaves undefined.
// Compiled by NVRTC without any header, after elements.cuh of sdk/device.

// A complex number that is read or written in one access: elements passed to casts are aligned to
// the whole number.
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

// ---- number(): the value of an element in arithmetic: bool, float for 16-bit floats, the real
// part of complex, otherwise the element itself.

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

// ---- Floating to integer. Out-of-range values and NaN give the results of x86-64's conversions:
// the lowest value of the 32- or 64-bit result; types below 32 bits take the low bits of the 32-bit
// result.

template <class F>
__device__ inline int truncate_to_32(F value) {
  // Doubles between -2^31 - 1 and -2^31 truncate to -2^31. There are no such floats.
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

// ---- Double to float, rounded to odd: an inexact result is the neighbour with an odd last bit. A
// second rounding to fewer bits then gives the same result as rounding the double directly.
__device__ inline float round_to_odd(double value) {
  const float nearest = (float)value;
  const unsigned bits = bits_as<unsigned>(nearest);
  if ((double)nearest == value || value != value || (bits & 1u) != 0) return nearest;
  const double magnitude = value < 0 ? -value : value;
  const double near = nearest < 0 ? -(double)nearest : (double)nearest;
  return bits_as<float>(near < magnitude ? bits + 1 : bits - 1);
}

// ---- Cast: an arithmetic value as an element.

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
