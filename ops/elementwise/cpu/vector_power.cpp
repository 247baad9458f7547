// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "../independent.hpp"
#include "cpu_kernels.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

namespace spanwise::ops {
namespace {

SW_BEGIN_AVX512
namespace power_avx512 {
#include "exp_loops.inc"
#include "power_tables.inc"

typedef double Element;
typedef __m512d V;
typedef __mmask8 Mask;
typedef std::int64_t Integers __attribute__((vector_size(64)));
typedef std::uint64_t Bits __attribute__((vector_size(64)));

inline V all(double x) { return _mm512_set1_pd(x); }
// Lanes outside the mask are 1 when loaded, and not stored.
inline V load(Mask lanes, const Element* from) { return _mm512_mask_loadu_pd(all(1), lanes, from); }
inline void store(Element* to, Mask lanes, V x) { _mm512_mask_storeu_pd(to, lanes, x); }
inline V fused(V a, V b, V c) { return _mm512_fmadd_pd(a, b, c); }
// (terms[n + 1] * x + terms[n])
inline V pair(V x, const double* terms, int n) {
  return fused(x, all(terms[n + 1]), all(terms[n]));
}

inline V look_up(const double* table, Bits interval) {
  const auto at = reinterpret_cast<__m512i>(interval);
  const V low = _mm512_permutex2var_pd(_mm512_load_pd(table), at, _mm512_load_pd(table + 8));
  const V high = _mm512_permutex2var_pd(_mm512_load_pd(table + 16), at, _mm512_load_pd(table + 24));
  return _mm512_mask_blend_pd(_mm512_movepi64_mask(reinterpret_cast<__m512i>(interval << 59)), low,
                              high);
}

// x = 2^k (1 + z) / c for normal x > 0.
struct LogArgument {
  Bits interval;  // the index of c
  V k, z;
};
inline LogArgument split(V x) {
  const auto bits = reinterpret_cast<Bits>(x);
  const Bits above = bits - 0x3fe6955500000000;
  const Bits interval = (above >> 47) & 31;
  const auto k = reinterpret_cast<Bits>(reinterpret_cast<Integers>(above) >> 52);
  const V m = reinterpret_cast<V>(bits - (k << 52));
  return {interval, _mm512_cvtepi64_pd(reinterpret_cast<__m512i>(k)),
          fused(m, look_up(inverses, interval), all(-1))};
}
inline __mmask8 are_normal(V x) {
  const Bits from_least = reinterpret_cast<Bits>(x) - 0x0010000000000000;
  return _mm512_cmplt_epu64_mask(reinterpret_cast<__m512i>(from_least),
                                 _mm512_set1_epi64(0x7fe0000000000000));
}

constexpr double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;

// ln x as the sum of two numbers, with a relative error of about 2^-65: ln(1 + z) = z - z^2 / 2 +
// z^3 (1/3 - z / 4 ...), to which -ln c + k ln 2 is added, exactly in its first part. P. T. P.
// Tang, "Table-Driven Implementation of the Logarithm Function in IEEE Floating-Point Arithmetic"
// (1990).
struct Logarithm {
  V high, low;
};
inline Logarithm logarithm(V x) {
  // The terms times -2, since they are multiplied by -z^3 / 2.
  static constexpr double terms[] = {-2.0 / 3, 2.0 / 4,  -2.0 / 5, 2.0 / 6,   -2.0 / 7,
                                     2.0 / 8,  -2.0 / 9, 2.0 / 10, -2.0 / 11, 2.0 / 12};
  const LogArgument s = split(x);
  const V z = s.z, half = z * all(-0.5), square = z * z, half_square = z * half;
  const V first = fused(s.k, all(ln2_high), look_up(logarithms, s.interval));
  const V second = first + z;
  const V third = second + half_square;
  V rest = fused(s.k, all(ln2_low), look_up(logarithm_rests, s.interval));
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

inline V size_of(V x) {
  return reinterpret_cast<V>(reinterpret_cast<Bits>(x) & (~std::uint64_t{0} >> 1));
}
// The integer is in the lowest bits of `shifted`.
inline V times_power_of_2(V x, V shifted) {
  return reinterpret_cast<V>(reinterpret_cast<Bits>(x) + (reinterpret_cast<Bits>(shifted) << 52));
}

// exp(x + more) for normal results; `more` is much smaller than x.
inline V exp_of_sum(V x, V more) {
  typedef Exp<double> E;
  const V shifted = fused(x, all(E::per_power), all(E::rounds)), k = shifted - all(E::rounds);
  const V r = fused(k, all(-E::ln2_rest), fused(k, all(-E::ln2), x)) + more, square = r * r;
  V sum = fused(square, pair(r, E::tail_terms, 8), pair(r, E::tail_terms, 6));
  sum = fused(square, sum, pair(r, E::tail_terms, 4));
  sum = fused(square, sum, pair(r, E::tail_terms, 2));
  sum = fused(square, sum, pair(r, E::tail_terms, 0));
  return times_power_of_2(all(1) + fused(square, sum, r), shifted);
}

inline V power_of(V x, V y, Mask& is_done) {
  const Logarithm ln = logarithm(x);
  const V product = y * ln.high;
  is_done = are_normal(x) & _mm512_cmp_pd_mask(size_of(product), all(708), _CMP_LT_OQ);
  return exp_of_sum(product, fused(y, ln.low, fused(y, ln.high, -product)));
}

#include "power_loops.inc"

}  // namespace power_avx512
SW_END_INSTRUCTIONS

}  // namespace

CpuLoops find_vector_power(DType dtype) noexcept {
  if (dtype == float32) return find_vector_power_of_floats();
  CpuLoops kernel;
  if (dtype != float64 || !has_avx512()) return kernel;
  kernel.loop = &power_avx512::powers;
  kernel.with_number = &power_avx512::powers_by_number;
  return kernel;
}

}  // namespace spanwise::ops

#else

namespace spanwise::ops {

CpuLoops find_vector_power(DType dtype) noexcept {
  return dtype == float32 ? find_vector_power_of_floats() : CpuLoops();
}

}  // namespace spanwise::ops

#endif
