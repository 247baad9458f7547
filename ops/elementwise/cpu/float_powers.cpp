// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>

#include "cpu_kernels.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

namespace spanwise::ops {
namespace {

SW_BEGIN_AVX512
namespace float_power_avx512 {

typedef float Element;
typedef __m512 V;
typedef __mmask16 Mask;
typedef std::int32_t Integers __attribute__((vector_size(64)));
typedef std::uint32_t Bits __attribute__((vector_size(64)));

// [0x1.6cp-1, 0x1.6cp0) is split into 32 intervals, each a 32nd of its power of two. For each: a
// number c near the inverse of its middle, with so few bits that x * c - 1 is exact and less than
// 2^-5.6 in magnitude; -ln c rounded to a multiple of 2^-17; and the rounding error. c is 1 near 1.
alignas(64) constexpr float inverses[32] = {
    0x1.64p0f, 0x1.5cp0f,  0x1.54p0f,  0x1.5p0f,  0x1.48p0f,  0x1.4p0f,   0x1.3cp0f,  0x1.34p0f,
    0x1.3p0f,  0x1.28p0f,  0x1.24p0f,  0x1.2p0f,  0x1.1cp0f,  0x1.14p0f,  0x1.1p0f,   0x1.0cp0f,
    0x1.08p0f, 0x1.04p0f,  0x1p0f,     0x1.fp-1f, 0x1.ep-1f,  0x1.d4p-1f, 0x1.c8p-1f, 0x1.b8p-1f,
    0x1.bp-1f, 0x1.a4p-1f, 0x1.98p-1f, 0x1.9p-1f, 0x1.88p-1f, 0x1.7cp-1f, 0x1.74p-1f, 0x1.6cp-1f};
alignas(64) constexpr float logarithms[32] = {-0x1.51aap-2f,
                                              -0x1.3a64p-2f,
                                              -0x1.2294p-2f,
                                              -0x1.1676p-2f,
                                              -0x1.fb9p-3f,
                                              -0x1.c9p-3f,
                                              -0x1.af3cp-3f,
                                              -0x1.7ab8p-3f,
                                              -0x1.5ff4p-3f,
                                              -0x1.2954p-3f,
                                              -0x1.0d78p-3f,
                                              -0x1.e27p-4f,
                                              -0x1.a928p-4f,
                                              -0x1.342p-4f,
                                              -0x1.f0ap-5f,
                                              -0x1.774p-5f,
                                              -0x1.f82p-6f,
                                              -0x1.fcp-7f,
                                              0,
                                              0x1.041p-5f,
                                              0x1.0858p-4f,
                                              0x1.701p-4f,
                                              0x1.da7p-4f,
                                              0x1.366p-3f,
                                              0x1.5bf4p-3f,
                                              0x1.95a4p-3f,
                                              0x1.d104p-3f,
                                              0x1.f99p-3f,
                                              0x1.1178p-2f,
                                              0x1.315p-2f,
                                              0x1.4718p-2f,
                                              0x1.5d5cp-2f};
alignas(64) constexpr float logarithm_rests[32] = {-0x1.b0e5cp-19f,
                                                   -0x1.8aad28p-19f,
                                                   -0x1.fbcf7ap-22f,
                                                   0x1.aa2a2cp-21f,
                                                   -0x1.86d5e4p-19f,
                                                   0x1.070cacp-20f,
                                                   -0x1.29d018p-20f,
                                                   -0x1.20421cp-20f,
                                                   0x1.f1eb0ep-20f,
                                                   -0x1.2f82p-19f,
                                                   0x1.832f72p-23f,
                                                   -0x1.db8abcp-22f,
                                                   0x1.2c5b52p-20f,
                                                   0x1.434f22p-19f,
                                                   -0x1.86008cp-20f,
                                                   -0x1.63d8ccp-19f,
                                                   -0x1.361cfp-19f,
                                                   -0x1.5161f8p-20f,
                                                   0,
                                                   0x1.76279ep-19f,
                                                   0x1.8b59e4p-20f,
                                                   -0x1.67a8aap-19f,
                                                   0x1.3b1c22p-19f,
                                                   -0x1.a7f538p-22f,
                                                   0x1.ad50f6p-25f,
                                                   0x1.adcf7p-19f,
                                                   -0x1.01b354p-20f,
                                                   0x1.c6cb3cp-19f,
                                                   0x1.d044fcp-19f,
                                                   -0x1.c3c594p-19f,
                                                   0x1.b84e38p-19f,
                                                   -0x1.10535p-21f};
// ln2_high has so few bits that its products with exponents, and their sums with `logarithms`, are
// exact.
constexpr float ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f;

inline V all(float x) { return _mm512_set1_ps(x); }
// Lanes outside the mask are 1 when loaded, and not stored.
inline V load(Mask lanes, const Element* from) { return _mm512_mask_loadu_ps(all(1), lanes, from); }
inline void store(Element* to, Mask lanes, V x) { _mm512_mask_storeu_ps(to, lanes, x); }
inline V fused(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
inline Bits bits_of(V x) { return reinterpret_cast<Bits>(x); }
inline V look_up(const float* table, Bits interval) {  // by the lowest 5 bits
  return _mm512_permutex2var_ps(_mm512_load_ps(table), reinterpret_cast<__m512i>(interval),
                                _mm512_load_ps(table + 16));
}

// ln x for normal x > 0, as the sum of two numbers, with a relative error of about 2^-32. x = 2^k
// (1 + z) / c, so that it is k ln 2 - ln c + z - z^2 / 2 + z^3 (1/3 - z / 4 ...), a polynomial
// fitted at Chebyshev points for |z| <= 2^-5.6. P. T. P. Tang, "Table-Driven Implementation of the
// Logarithm Function in IEEE Floating-Point Arithmetic" (1990).
struct Logarithm {
  V high, low;
};
inline Logarithm logarithm(V x) {
  const Bits above = bits_of(x) - 0x3f360000, interval = above >> 18;
  const auto exponent = reinterpret_cast<Integers>(above) >> 23;
  const V m = reinterpret_cast<V>(bits_of(x) - (reinterpret_cast<Bits>(exponent) << 23));
  const V k = _mm512_maskz_cvtepi32_ps(0xffff, reinterpret_cast<__m512i>(exponent));
  const V z = fused(m, look_up(inverses, interval), all(-1)), square = z * z;
  const V square_rest = fused(z, z, -square);
  // Each sum is followed by its rounding error. The first sum is exact; the errors of the next two
  // are exact because the summand that is subtracted first is the larger one, or 0.
  const V whole = fused(k, all(ln2_high), look_up(logarithms, interval));
  const V first = whole + z, first_rest = whole - first + z;
  const V high = fused(square, all(-0.5f), first);
  const V high_rest = fused(square, all(-0.5f), first - high);
  V sum = fused(z, all(-0x1.556f08p-3f), all(0x1.99b6f8p-3f));
  sum = fused(z, fused(z, sum, all(-0x1p-2f)), all(0x1.555556p-2f));
  V low = fused(k, all(ln2_low), look_up(logarithm_rests, interval)) + first_rest;
  low = fused(square_rest, all(-0.5f), low) + high_rest;
  return {high, fused(z * square, sum, low)};
}

// exp(x + more) for normal results; `more` is much smaller than x. 2^k exp(r) as in exp_loops.inc,
// exp(r) = 1 + r + r^2 (1/2 + r / 6 ...) fitted for |r| <= 0.42. The rounding error of 1 + r is
// added later, so that the error of the result is little more than that of the last rounding.
inline V exp_of_sum(V x, V more) {
  constexpr float rounds = 0x1.8p23f;  // adding it puts the integer part in the lowest bits
  const V shifted = fused(x, all(0x1.715476p0f), all(rounds)), k = shifted - all(rounds);
  const V exact = fused(k, all(-ln2_high), x), other = fused(k, all(-ln2_low), more);
  const V r = exact + other, r_rest = exact - r + other, square = r * r;
  V tail = fused(r, all(0x1.a1a22ep-13f), all(0x1.6dd022p-10f));
  tail = fused(square, tail, fused(r, all(0x1.1110aap-7f), all(0x1.55546cp-5f)));
  tail = fused(square, tail, fused(r, all(0x1.555556p-3f), all(0.5f)));
  const V sum = all(1) + r, rest = all(1) - sum + r + r_rest;
  const V power = sum + fused(square, tail, rest);
  return reinterpret_cast<V>(bits_of(power) + (bits_of(shifted) << 23));
}

inline V power_of(V x, V y, Mask& is_done) {
  const Logarithm ln = logarithm(x);
  const V product = y * ln.high;
  const V size = reinterpret_cast<V>(bits_of(product) & 0x7fffffff);
  const Bits from_least = bits_of(x) - 0x00800000;  // of the normal numbers
  is_done = _mm512_cmplt_epu32_mask(reinterpret_cast<__m512i>(from_least),
                                    _mm512_set1_epi32(0x7f000000)) &
            _mm512_cmp_ps_mask(size, all(87), _CMP_LT_OQ);
  return exp_of_sum(product, fused(y, ln.low, fused(y, ln.high, -product)));
}

#include "power_loops.inc"

}  // namespace float_power_avx512
SW_END_INSTRUCTIONS

}  // namespace

CpuLoops find_vector_power_of_floats() noexcept {
  CpuLoops kernel;
  if (!has_avx512()) return kernel;
  kernel.loop = &float_power_avx512::powers;
  kernel.with_number = &float_power_avx512::powers_by_number;
  return kernel;
}

}  // namespace spanwise::ops

#else

namespace spanwise::ops {

CpuLoops find_vector_power_of_floats() noexcept { return {}; }

}  // namespace spanwise::ops

#endif
