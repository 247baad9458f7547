// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "elementwise_loops.hpp"
#include "spanwise/core/element_types.hpp"

// Loops that need fused multiplication: exp, softmax, powers of floating-point numbers, and
// divisions of two arrays.

#if defined(__x86_64__)

#include <immintrin.h>

namespace spanwise::ops {
namespace {

__extension__ typedef __float128 Wide;

// -ln c for c near 1, by the series of 2 atanh((1 - c) / (1 + c)).
constexpr Wide minus_logarithm(Wide c) {
  const Wide t = (1 - c) / (1 + c);
  Wide sum = 0;
  for (int k = 45; k >= 0; --k) sum = sum * t * t + Wide{1} / (2 * k + 1);
  return 2 * t * sum;
}

/// For each of 32 numbers c: -ln c rounded to a multiple of 2^-bits, and the rest -ln c minus that.
template <class T>
struct LogarithmTable {
  alignas(64) T logarithms[32], rests[32];

  constexpr LogarithmTable(const T (&numbers)[32], int bits) : logarithms{}, rests{} {
    const Wide scale = std::int64_t{1} << bits;
    for (int i = 0; i < 32; ++i) {
      const Wide exact = minus_logarithm(numbers[i]);
      const Wide half = exact < 0 ? Wide{-0.5} : Wide{0.5};
      const Wide rounded = static_cast<std::int64_t>(exact * scale + half) / scale;
      logarithms[i] = static_cast<T>(rounded);
      rests[i] = static_cast<T>(exact - rounded);
    }
  }
};

// The same loops once per instruction set, in separate namespaces.
SW_BEGIN_AVX2_FMA
namespace fma_avx2 {
#include "fma_loops.inc"
}
SW_END_INSTRUCTIONS
SW_BEGIN_AVX512
namespace fma_avx512 {
#include "fma_loops.inc"

// Powers of float64 with AVX-512; Exp is that of fma_loops.inc.
struct PowersOfDoubles {
  typedef double Element;
  typedef __m512d V;
  typedef __mmask8 Mask;
  typedef std::int64_t Integers __attribute__((vector_size(64)));
  typedef std::uint64_t Bits __attribute__((vector_size(64)));

  // [0x1.69555p-1, 0x1.69555p0) is split into 32 intervals, each a 32nd of its power of two. For
  // each: a number c near the inverse of its middle, with so few bits that x * c - 1 is exact and
  // less than 2^-5.4 in magnitude.
  alignas(64) static constexpr double inverses[32] = {
      0x1.68p+0, 0x1.6p+0,  0x1.58p+0, 0x1.5p+0,  0x1.48p+0, 0x1.4p+0,  0x1.4p+0,  0x1.38p+0,
      0x1.3p+0,  0x1.28p+0, 0x1.28p+0, 0x1.2p+0,  0x1.2p+0,  0x1.18p+0, 0x1.1p+0,  0x1.1p+0,
      0x1.08p+0, 0x1.08p+0, 0x1p+0,    0x1.f8p-1, 0x1.e8p-1, 0x1.d8p-1, 0x1.c8p-1, 0x1.cp-1,
      0x1.bp-1,  0x1.a8p-1, 0x1.ap-1,  0x1.9p-1,  0x1.88p-1, 0x1.8p-1,  0x1.78p-1, 0x1.7p-1};
  static constexpr LogarithmTable<double> table{inverses, 42};

  // A vector whose elements are all x.
  static V splat(double x) { return _mm512_set1_pd(x); }
  // Lanes outside the mask are 1 when loaded, and not stored.
  static V load(Mask lanes, const Element* from) {
    return _mm512_mask_loadu_pd(splat(1), lanes, from);
  }
  static void store(Element* to, Mask lanes, V x) { _mm512_mask_storeu_pd(to, lanes, x); }
  static V fused(V a, V b, V c) { return _mm512_fmadd_pd(a, b, c); }
  // terms[n + 1] * x + terms[n]
  static V pair(V x, const double* terms, int n) {
    return fused(x, splat(terms[n + 1]), splat(terms[n]));
  }

  static V look_up(const double* numbers, Bits interval) {
    const auto at = reinterpret_cast<__m512i>(interval);
    const V low = _mm512_permutex2var_pd(_mm512_load_pd(numbers), at, _mm512_load_pd(numbers + 8));
    const V high =
        _mm512_permutex2var_pd(_mm512_load_pd(numbers + 16), at, _mm512_load_pd(numbers + 24));
    return _mm512_mask_blend_pd(_mm512_movepi64_mask(reinterpret_cast<__m512i>(interval << 59)),
                                low, high);
  }

  // x = 2^k (1 + z) / c for normal x > 0.
  struct LogArgument {
    Bits interval;  // the index of c
    V k, z;
  };
  static LogArgument split(V x) {
    const auto bits = reinterpret_cast<Bits>(x);
    // The bits above those of 0x1.69555p-1, of which the upper 12 are k and the next 5 the
    // interval.
    const Bits above = bits - 0x3fe6955500000000;
    const Bits interval = (above >> 47) & 31;
    const auto k = reinterpret_cast<Bits>(reinterpret_cast<Integers>(above) >> 52);
    const V m = reinterpret_cast<V>(bits - (k << 52));
    return {interval, _mm512_cvtepi64_pd(reinterpret_cast<__m512i>(k)),
            fused(m, look_up(inverses, interval), splat(-1))};
  }
  static constexpr double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;

  // ln x as the sum of two numbers, with a relative error of about 2^-65: ln(1 + z) = z - z^2 / 2 +
  // z^3 (1/3 - z / 4 ...), to which -ln c + k ln 2 is added, exactly in its first part. P. T. P.
  // Tang, "Table-Driven Implementation of the Logarithm Function in IEEE Floating-Point Arithmetic"
  // (1990).
  struct Logarithm {
    V high, low;
  };
  static Logarithm logarithm(V x) {
    // The terms times -2, since they are multiplied by -z^3 / 2.
    static constexpr double terms[] = {-2.0 / 3, 2.0 / 4,  -2.0 / 5, 2.0 / 6,   -2.0 / 7,
                                       2.0 / 8,  -2.0 / 9, 2.0 / 10, -2.0 / 11, 2.0 / 12};
    const LogArgument s = split(x);
    const V z = s.z, half = z * splat(-0.5), square = z * z, half_square = z * half;
    const V first = fused(s.k, splat(ln2_high), look_up(table.logarithms, s.interval));
    const V second = first + z;
    const V third = second + half_square;
    V rest = fused(s.k, splat(ln2_low), look_up(table.rests, s.interval));
    rest += first - second + z;
    rest += fused(z, half, -half_square);
    rest += second - third + half_square;
    V sum = fused(square, pair(z, terms, 8), pair(z, terms, 6));
    sum = fused(square, sum, pair(z, terms, 4));
    sum = fused(square, sum, pair(z, terms, 2));
    sum = fused(square, sum, pair(z, terms, 0));
    rest = fused(z * half_square, sum, rest);
    const V high = third + rest;
    return {high, third - high + rest};
  }

  // exp(x + more) for normal results; `more` is much smaller than x.
  static V exp_of_sum(V x, V more) {
    typedef Exp<double> E;
    const V shifted = fused(x, splat(E::log2_e), splat(E::rounding)),
            k = shifted - splat(E::rounding);
    const V r = fused(k, splat(-E::ln2_low), fused(k, splat(-E::ln2_high), x)) + more,
            square = r * r;
    V sum = fused(square, pair(r, E::tail_terms, 8), pair(r, E::tail_terms, 6));
    sum = fused(square, sum, pair(r, E::tail_terms, 4));
    sum = fused(square, sum, pair(r, E::tail_terms, 2));
    sum = fused(square, sum, pair(r, E::tail_terms, 0));
    const auto power = reinterpret_cast<Bits>(splat(1) + fused(square, sum, r));
    return reinterpret_cast<V>(power + (reinterpret_cast<Bits>(shifted) << 52));
  }

  static V power_of(V x, V y, Mask& done_lanes) {
    const Logarithm ln = logarithm(x);
    const V product = y * ln.high;
    const auto magnitude = reinterpret_cast<V>(reinterpret_cast<Bits>(product) & (~Bits{} >> 1));
    // As unsigned integers these are below 0x7fe0000000000000 for positive normal numbers only.
    const Bits from_min_normal = reinterpret_cast<Bits>(x) - 0x0010000000000000;
    done_lanes = _mm512_cmplt_epu64_mask(reinterpret_cast<__m512i>(from_min_normal),
                                         _mm512_set1_epi64(0x7fe0000000000000)) &
                 _mm512_cmp_pd_mask(magnitude, splat(708), _CMP_LT_OQ);  // exp() is normal
    return exp_of_sum(product, fused(y, ln.low, fused(y, ln.high, -product)));
  }
};

// Powers of float32 with AVX-512.
struct PowersOfFloats {
  typedef float Element;
  typedef __m512 V;
  typedef __mmask16 Mask;
  typedef std::int32_t Integers __attribute__((vector_size(64)));
  typedef std::uint32_t Bits __attribute__((vector_size(64)));

  // [0x1.6cp-1, 0x1.6cp0) is split into 32 intervals, each a 32nd of its power of two. For each: a
  // number c near the inverse of its middle, with so few bits that x * c - 1 is exact and less than
  // 2^-5.6 in magnitude. c is 1 near 1.
  alignas(64) static constexpr float inverses[32] = {
      0x1.64p0f, 0x1.5cp0f,  0x1.54p0f,  0x1.5p0f,  0x1.48p0f,  0x1.4p0f,   0x1.3cp0f,  0x1.34p0f,
      0x1.3p0f,  0x1.28p0f,  0x1.24p0f,  0x1.2p0f,  0x1.1cp0f,  0x1.14p0f,  0x1.1p0f,   0x1.0cp0f,
      0x1.08p0f, 0x1.04p0f,  0x1p0f,     0x1.fp-1f, 0x1.ep-1f,  0x1.d4p-1f, 0x1.c8p-1f, 0x1.b8p-1f,
      0x1.bp-1f, 0x1.a4p-1f, 0x1.98p-1f, 0x1.9p-1f, 0x1.88p-1f, 0x1.7cp-1f, 0x1.74p-1f, 0x1.6cp-1f};
  static constexpr LogarithmTable<float> table{inverses, 17};
  // ln2_high has so few bits that its products with exponents, and their sums with the table's
  // logarithms, are exact.
  static constexpr float ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f;

  // A vector whose elements are all x.
  static V splat(float x) { return _mm512_set1_ps(x); }
  // Lanes outside the mask are 1 when loaded, and not stored.
  static V load(Mask lanes, const Element* from) {
    return _mm512_mask_loadu_ps(splat(1), lanes, from);
  }
  static void store(Element* to, Mask lanes, V x) { _mm512_mask_storeu_ps(to, lanes, x); }
  static V fused(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
  static Bits bits_of(V x) { return reinterpret_cast<Bits>(x); }
  static V look_up(const float* numbers, Bits interval) {  // by the lowest 5 bits
    return _mm512_permutex2var_ps(_mm512_load_ps(numbers), reinterpret_cast<__m512i>(interval),
                                  _mm512_load_ps(numbers + 16));
  }

  // ln x for normal x > 0, as the sum of two numbers, with a relative error of about 2^-32. x = 2^k
  // (1 + z) / c, so that it is k ln 2 - ln c + z - z^2 / 2 + z^3 (1/3 - z / 4 ...), a polynomial
  // fitted at Chebyshev points for |z| <= 2^-5.6. P. T. P. Tang, "Table-Driven Implementation of
  // the Logarithm Function in IEEE Floating-Point Arithmetic" (1990).
  struct Logarithm {
    V high, low;
  };
  static Logarithm logarithm(V x) {
    // The bits above those of 0x1.6cp-1, of which the upper 9 are k and the next 5 the interval.
    const Bits above = bits_of(x) - 0x3f360000, interval = above >> 18;
    const auto exponent = reinterpret_cast<Integers>(above) >> 23;
    const V m = reinterpret_cast<V>(bits_of(x) - (reinterpret_cast<Bits>(exponent) << 23));
    const V k = _mm512_maskz_cvtepi32_ps(0xffff, reinterpret_cast<__m512i>(exponent));
    const V z = fused(m, look_up(inverses, interval), splat(-1)), square = z * z;
    const V square_rest = fused(z, z, -square);
    // Each sum is followed by its rounding error. The first sum is exact; the errors of the next
    // two are exact because the summand that is subtracted first is the larger one, or 0.
    const V whole = fused(k, splat(ln2_high), look_up(table.logarithms, interval));
    const V first = whole + z, first_rest = whole - first + z;
    const V high = fused(square, splat(-0.5f), first);
    const V high_rest = fused(square, splat(-0.5f), first - high);
    V sum = fused(z, splat(-0x1.556f08p-3f), splat(0x1.99b6f8p-3f));
    sum = fused(z, fused(z, sum, splat(-0x1p-2f)), splat(0x1.555556p-2f));
    V low = fused(k, splat(ln2_low), look_up(table.rests, interval)) + first_rest;
    low = fused(square_rest, splat(-0.5f), low) + high_rest;
    return {high, fused(z * square, sum, low)};
  }

  // exp(x + more) for normal results; `more` is much smaller than x. 2^k exp(r) as in
  // fma_loops.inc, exp(r) = 1 + r + r^2 (1/2 + r / 6 ...) fitted for |r| <= 0.42. The rounding
  // error of 1 + r is added later, so that the error of the result is little more than that of the
  // last rounding.
  static V exp_of_sum(V x, V more) {
    // Adding it rounds to an integer, which is then in the lowest bits of the sum.
    constexpr float rounding = 0x1.8p23f;
    const V shifted = fused(x, splat(0x1.715476p0f), splat(rounding)),
            k = shifted - splat(rounding);
    const V exact = fused(k, splat(-ln2_high), x), other = fused(k, splat(-ln2_low), more);
    const V r = exact + other, r_rest = exact - r + other, square = r * r;
    V tail = fused(r, splat(0x1.a1a22ep-13f), splat(0x1.6dd022p-10f));
    tail = fused(square, tail, fused(r, splat(0x1.1110aap-7f), splat(0x1.55546cp-5f)));
    tail = fused(square, tail, fused(r, splat(0x1.555556p-3f), splat(0.5f)));
    const V sum = splat(1) + r, rest = splat(1) - sum + r + r_rest;
    const V power = sum + fused(square, tail, rest);
    return reinterpret_cast<V>(bits_of(power) + (bits_of(shifted) << 23));
  }

  static V power_of(V x, V y, Mask& done_lanes) {
    const Logarithm ln = logarithm(x);
    const V product = y * ln.high;
    const V magnitude = reinterpret_cast<V>(bits_of(product) & 0x7fffffff);
    // As unsigned integers these are below 0x7f000000 for positive normal numbers only.
    const Bits from_min_normal = bits_of(x) - 0x00800000;
    done_lanes = _mm512_cmplt_epu32_mask(reinterpret_cast<__m512i>(from_min_normal),
                                         _mm512_set1_epi32(0x7f000000)) &
                 _mm512_cmp_ps_mask(magnitude, splat(87), _CMP_LT_OQ);  // exp() is normal
    return exp_of_sum(product, fused(y, ln.low, fused(y, ln.high, -product)));
  }
};

// The loops around a vector power. P defines Element, its vector V, a Mask of its lanes, splat(),
// load(), store(), and power_of(x, y, done_lanes), which sets `done_lanes` to the lanes that it has
// computed.
template <class P>
struct PowerLoops {
  using Element = typename P::Element;
  using V = typename P::V;
  using Mask = typename P::Mask;

  static constexpr std::int64_t lanes_of_power = 64 / sizeof(Element);
  static constexpr auto every_lane = static_cast<Mask>(-1);

  // Computes the lanes that are not done with the C library: negative numbers, results that are not
  // normal.
  [[gnu::noinline]] static V completed(V power, V x, V y, Mask done_lanes) {
    alignas(64) Element base[lanes_of_power], exponent[lanes_of_power], result[lanes_of_power];
    P::store(base, every_lane, x);
    P::store(exponent, every_lane, y);
    P::store(result, every_lane, power);
    for (int k = 0; k < lanes_of_power; ++k)
      if ((done_lanes >> k & 1) == 0) result[k] = std::pow(base[k], exponent[k]);
    return P::load(every_lane, result);
  }

  static V finished_power(V x, V y) {
    Mask done_lanes;
    const V power = P::power_of(x, y, done_lanes);
    return done_lanes == every_lane ? power : completed(power, x, y, done_lanes);
  }

  // No lambdas: in a template they would not be compiled for the instruction set.
  template <bool by_number>
  static void write_powers(std::int64_t n, std::byte* const* arrays) {
    const auto* a = reinterpret_cast<const Element*>(arrays[0]);
    const auto* b = reinterpret_cast<const Element*>(arrays[1]);
    auto* z = reinterpret_cast<Element*>(arrays[2]);
    const V number = by_number ? P::splat(*b) : V{};
    std::int64_t i = 0;
    for (; i + lanes_of_power <= n; i += lanes_of_power)
      P::store(z + i, every_lane,
               finished_power(P::load(every_lane, a + i),
                              by_number ? number : P::load(every_lane, b + i)));
    if (i == n) return;
    const auto tail = static_cast<Mask>((1 << (n - i)) - 1);
    P::store(z + i, tail,
             finished_power(P::load(tail, a + i), by_number ? number : P::load(tail, b + i)));
  }

  static void powers(const void*, std::int64_t n, std::byte* const* arrays) {
    write_powers<false>(n, arrays);
  }
  static void powers_by_number(const void*, std::int64_t n, std::byte* const* arrays) {
    if (*reinterpret_cast<const Element*>(arrays[1]) != 0) return write_powers<true>(n, arrays);
    auto* z = reinterpret_cast<Element*>(arrays[2]);
    for (std::int64_t i = 0; i < n; ++i) z[i] = 1;  // also for NaN
  }
};

template <class P>
CpuLoops power_loops() {
  return {.loop = &PowerLoops<P>::powers, .with_number = &PowerLoops<P>::powers_by_number};
}

template <PairDivision result>
Loop find_divide_pairs_of(DType dtype) noexcept {
  const Loop floats = find_divide_floats<result>(dtype);
  return floats != nullptr ? floats : find_divide_integers<result>(dtype);
}
}  // namespace fma_avx512
SW_END_INSTRUCTIONS

template <PairDivision result>
Loop find_divide_pairs_of(DType dtype) noexcept {
  if (has_avx512()) return fma_avx512::find_divide_pairs_of<result>(dtype);
  return has_avx2_and_fma() ? fma_avx2::find_divide_floats<result>(dtype) : nullptr;
}

}  // namespace

Loop find_vector_exp(DType dtype) noexcept {
  const bool is_float = dtype == float32;
  if (!is_float && dtype != float64) return nullptr;
  if (has_avx512()) return is_float ? &fma_avx512::exp_all<float> : &fma_avx512::exp_all<double>;
  if (!has_avx2_and_fma()) return nullptr;
  return is_float ? &fma_avx2::exp_all<float> : &fma_avx2::exp_all<double>;
}

SoftmaxLoops find_softmax(DType dtype, bool is_logarithm) noexcept {
  const bool is_float = dtype == float32;
  if (!is_float && dtype != float64) return {};
  if (has_avx512())
    return is_float ? fma_avx512::softmax_loops<float>(is_logarithm)
                    : fma_avx512::softmax_loops<double>(is_logarithm);
  if (!has_avx2_and_fma()) return {};
  return is_float ? fma_avx2::softmax_loops<float>(is_logarithm)
                  : fma_avx2::softmax_loops<double>(is_logarithm);
}

CpuLoops find_vector_power(DType dtype) noexcept {
  if (!has_avx512()) return {};
  if (dtype == float32) return fma_avx512::power_loops<fma_avx512::PowersOfFloats>();
  if (dtype == float64) return fma_avx512::power_loops<fma_avx512::PowersOfDoubles>();
  return {};
}

Loop find_divide_pairs(DType dtype, PairDivision result) noexcept {
  if (result == PairDivision::quotient) return find_divide_pairs_of<PairDivision::quotient>(dtype);
  if (result == PairDivision::remainder)
    return find_divide_pairs_of<PairDivision::remainder>(dtype);
  return find_divide_pairs_of<PairDivision::truncated_remainder>(dtype);
}

}  // namespace spanwise::ops

#else

namespace spanwise::ops {
Loop find_vector_exp(DType) noexcept { return nullptr; }
SoftmaxLoops find_softmax(DType, bool) noexcept { return {}; }
CpuLoops find_vector_power(DType) noexcept { return {}; }
Loop find_divide_pairs(DType, PairDivision) noexcept { return nullptr; }
}  // namespace spanwise::ops

#endif
