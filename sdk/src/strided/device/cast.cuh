// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Converts one element from any computable dtype to any other as numpy.ndarray.astype does, and as
// core/element_conversion.hpp does on the host, including conversions whose result C leaves
// undefined. After elements.cuh and half_elements.cuh.

// ---- number(): the value of an element in arithmetic: bool, float for 16-bit floats, the real
// part of complex, otherwise the element itself.

template <class T>
__device__ inline T number(T value) {
  return value;
}
__device__ inline bool number(Bool value) { return value.byte != 0; }
__device__ inline float number(Half value) { return widened(value); }
__device__ inline float number(BFloat value) { return widened(value); }
template <class T>
__device__ inline T number(Complex<T> value) {
  return value.re;
}

template <class T>
__device__ inline bool is_true(T value) {
  return number(value) != 0;  // NaN is true
}
template <class T>
__device__ inline bool is_true(Complex<T> value) {
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

template <class To, class F>
__device__ inline To truncated(F value) {
  if (sizeof(To) < 4 || (sizeof(To) == 4 && (To)-1 < (To)0)) return (To)truncate_to_32(value);
  if (sizeof(To) == 4 || (To)-1 < (To)0) return (To)truncate_to_64(value);
  const F half = (F)9223372036854775808.0;
  const bool high = value >= half;
  const unsigned long long low = truncate_to_64(high ? value - half : value);
  return (To)(high ? low ^ (1ULL << 63) : low);
}

// ---- ElementCast: an element as an element of another dtype.

template <class To>
struct Cast {  // to an integer
  template <class From>
  __device__ static To from(From value) {
    return (To)value;
  }
  __device__ static To from(float value) { return truncated<To>(value); }
  __device__ static To from(double value) { return truncated<To>(value); }
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
struct Cast<Half> {
  __device__ static Half from(double value) { return narrow_half(value); }
  template <class From>
  __device__ static Half from(From value) {
    return narrow_half((float)value);
  }
};
template <>
struct Cast<BFloat> {
  __device__ static BFloat from(double value) { return narrow_bfloat(value); }
  template <class From>
  __device__ static BFloat from(From value) {
    return narrow_bfloat((float)value);
  }
};

template <class To>
struct ElementCast {
  template <class From>
  __device__ static To from(From value) {
    return Cast<To>::from(number(value));
  }
};
template <>
struct ElementCast<Bool> {
  template <class From>
  __device__ static Bool from(From value) {
    const Bool result = {is_true(value)};
    return result;
  }
};
template <class T>
struct ElementCast<Complex<T> > {
  template <class From>
  __device__ static Complex<T> from(From value) {
    const Complex<T> result = {Cast<T>::from(number(value)), 0};
    return result;
  }
  template <class From>
  __device__ static Complex<T> from(Complex<From> value) {
    const Complex<T> result = {(T)value.re, (T)value.im};
    return result;
  }
};
