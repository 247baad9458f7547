// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Arithmetic and conversions with a rounding direction: __fadd_ru, __int2float_rz (CUDA Math API
// 13.0). Each computes the nearest number and the sign of its error, from a wider type in which
// products are exact, and takes the neighbour if the error has the wrong sign.

enum sw_rounding { sw_to_zero, sw_down, sw_up };

template <class SwT>
struct sw_wider;
template <>
struct sw_wider<float> {
  typedef double type;
  typedef unsigned bits;
};
template <>
struct sw_wider<double> {
#if __LDBL_MANT_DIG__ == 113
  typedef long double type;
#else
  typedef __float128 type;
#endif
  typedef unsigned long long bits;
};

// `nearest`, or its neighbour; `error` is the exact result minus `nearest`, or of its sign.
template <sw_rounding direction, class SwT, class SwError>
SW_FN SwT sw_directed(SwT nearest, SwError error) {
  typedef typename sw_wider<SwT>::bits Bits;
  const auto bits = sw_bits<Bits>(nearest);
  const bool is_negative = bits >> (8 * sizeof(SwT) - 1) != 0;
  const bool goes_up =
      error > 0 && (direction == sw_up || (direction == sw_to_zero && is_negative));
  const bool goes_down =
      error < 0 && (direction == sw_down || (direction == sw_to_zero && !is_negative));
  const bool is_zero = (Bits)(bits << 1) == 0;
  if ((!goes_up && !goes_down) || (direction == sw_to_zero && is_zero)) return nearest;
  // A zero has the sign of the exact result.
  return sw_bits<SwT>((Bits)(goes_up != is_negative ? bits + 1 : bits - 1));
}

// x * y + z, of which `nearest` is the nearest number.
template <sw_rounding direction, class SwT>
SW_FN SwT sw_directed_fma(SwT x, SwT y, SwT z, SwT nearest) {
  typedef typename sw_wider<SwT>::type Wide;
  const Wide product = (Wide)x * y, addend = z;
  const Wide sum = SW_ROUNDED(product + addend), part = SW_ROUNDED(sum - product);
  const Wide rest = SW_ROUNDED(product - SW_ROUNDED(sum - part)) + SW_ROUNDED(addend - part);
  const Wide difference = sum - nearest;
  if (direction == sw_down && sum == 0 && __builtin_signbit((SwT)product) != __builtin_signbit(z))
    return -(SwT)0;
  return sw_directed<direction>(nearest, difference == 0 ? rest : difference);
}
template <sw_rounding direction, class SwT>
SW_FN SwT sw_directed_product(SwT x, SwT y) {
  typedef typename sw_wider<SwT>::type Wide;
  const SwT nearest = SW_ROUNDED(x * y);
  return sw_directed<direction>(nearest, (Wide)x * y - nearest);
}
template <sw_rounding direction, class SwT>
SW_FN SwT sw_directed_quotient(SwT x, SwT y) {
  typedef typename sw_wider<SwT>::type Wide;
  const SwT nearest = SW_ROUNDED(x / y);
  if (y == 0 || __builtin_isinf(y) || __builtin_isinf(x)) return nearest;
  const Wide rest = (Wide)x - (Wide)nearest * y;
  return sw_directed<direction>(nearest, y < 0 ? -rest : rest);
}
template <sw_rounding direction, class SwT>
SW_FN SwT sw_directed_root(SwT x, SwT nearest) {
  typedef typename sw_wider<SwT>::type Wide;
  return sw_directed<direction>(nearest, (Wide)x - (Wide)nearest * nearest);
}

#define SW_DIRECTED(suffix, direction, T, p, root, fused, multiply_add)                   \
  SW_FN T __##p##add_##suffix(T x, T y) {                                                 \
    return sw_directed_fma<direction>(x, (T)1, y, (T)SW_ROUNDED(x + y));                  \
  }                                                                                       \
  SW_FN T __##p##sub_##suffix(T x, T y) { return __##p##add_##suffix(x, -y); }            \
  SW_FN T __##p##mul_##suffix(T x, T y) { return sw_directed_product<direction>(x, y); }  \
  SW_FN T __##p##div_##suffix(T x, T y) { return sw_directed_quotient<direction>(x, y); } \
  SW_FN T __##p##rcp_##suffix(T x) { return sw_directed_quotient<direction>((T)1, x); }   \
  SW_FN T __##p##sqrt_##suffix(T x) { return sw_directed_root<direction>(x, root(x)); }   \
  SW_FN T multiply_add##_##suffix(T x, T y, T z) {                                        \
    return sw_directed_fma<direction>(x, y, z, fused(x, y, z));                           \
  }
#define SW_DIRECTED_CONVERSION(name, suffix, direction, To, From, Exact) \
  SW_FN To name##_##suffix(From x) {                                     \
    const To nearest = (To)x;                                            \
    return sw_directed<direction>(nearest, (Exact)x - (Exact)nearest);   \
  }
#define SW_DIRECTION(suffix, direction)                                                            \
  SW_DIRECTED(suffix, direction, float, f, __builtin_sqrtf, __builtin_fmaf, __fmaf)                \
  SW_DIRECTED(suffix, direction, double, d, __builtin_sqrt, __builtin_fma, __fma)                  \
  SW_FN float __fmaf_ieee_##suffix(float x, float y, float z) { return __fmaf_##suffix(x, y, z); } \
  SW_DIRECTED_CONVERSION(__int2float, suffix, direction, float, int, double)                       \
  SW_DIRECTED_CONVERSION(__uint2float, suffix, direction, float, unsigned, double)                 \
  SW_DIRECTED_CONVERSION(__ll2float, suffix, direction, float, long long, sw_wide_double)          \
  SW_DIRECTED_CONVERSION(__ull2float, suffix, direction, float, unsigned long long,                \
                         sw_wide_double)                                                           \
  SW_DIRECTED_CONVERSION(__ll2double, suffix, direction, double, long long, sw_wide_double)        \
  SW_DIRECTED_CONVERSION(__ull2double, suffix, direction, double, unsigned long long,              \
                         sw_wide_double)                                                           \
  SW_DIRECTED_CONVERSION(__double2float, suffix, direction, float, double, double)
typedef sw_wider<double>::type sw_wide_double;
SW_DIRECTION(rz, sw_to_zero)
SW_DIRECTION(rd, sw_down)
SW_DIRECTION(ru, sw_up)
#undef SW_DIRECTION
#undef SW_DIRECTED_CONVERSION
#undef SW_DIRECTED
SW_FN float __fmaf_ieee_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }

#if defined(SW_WITH_VECTORS) || defined(SW_WITH_ALL)
#define SW_TWICE(suffix)                                                     \
  SW_FN float2 __fadd2_##suffix(float2 x, float2 y) {                        \
    return {__fadd_##suffix(x.x, y.x), __fadd_##suffix(x.y, y.y)};           \
  }                                                                          \
  SW_FN float2 __fmul2_##suffix(float2 x, float2 y) {                        \
    return {__fmul_##suffix(x.x, y.x), __fmul_##suffix(x.y, y.y)};           \
  }                                                                          \
  SW_FN float2 __ffma2_##suffix(float2 x, float2 y, float2 z) {              \
    return {__fmaf_##suffix(x.x, y.x, z.x), __fmaf_##suffix(x.y, y.y, z.y)}; \
  }
SW_TWICE(rn)
SW_TWICE(rz)
SW_TWICE(rd)
SW_TWICE(ru)
#undef SW_TWICE
#endif
