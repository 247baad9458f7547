// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// cuRAND's device API with the generators XORWOW, MRG32k3a and Philox4x32-10: the numbers of a GPU
// for the same seed, subsequence and offset; normal numbers agree to the accuracy of the math
// functions.

#include "curand_philox4x32_x.h"

// The generator XORWOW (Marsaglia, "Xorshift RNGs", 2003) with cuRAND's seeding and subsequences of
// 2^67 numbers. Skipping multiplies the 160 bits of the state by a power of the step's bit matrix;
// the powers are computed by squaring, once for a module.

struct curandStateXORWOW {
  unsigned d, v[5];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef curandStateXORWOW curandStateXORWOW_t, curandState_t, curandState;

SW_FN void sw_xorwow_step(unsigned* v) {
  const unsigned t = v[0] ^ (v[0] >> 2);
  v[0] = v[1];
  v[1] = v[2];
  v[2] = v[3];
  v[3] = v[4];
  v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
}
struct sw_bit_matrix {
  unsigned rows[160][5];  // row i is the image of bit i
};
static inline void sw_transform(const sw_bit_matrix& m, unsigned* v) {
  unsigned sum[5] = {0, 0, 0, 0, 0};
  for (int i = 0; i < 160; ++i)
    if (v[i / 32] >> (i % 32) & 1)
      for (int k = 0; k < 5; ++k) sum[k] ^= m.rows[i][k];
  for (int k = 0; k < 5; ++k) v[k] = sum[k];
}
// The matrix of 2^power steps, power < 131.
__attribute__((noinline, cold)) static const sw_bit_matrix& sw_xorwow_power(int power) {
  static sw_bit_matrix powers[131];
  static int ready;  // powers computed
  static char busy;  // a worker computes the next
  for (int p; (p = __atomic_load_n(&ready, __ATOMIC_ACQUIRE)) <= power;) {
    if (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) continue;
    p = __atomic_load_n(&ready, __ATOMIC_ACQUIRE);
    for (int i = 0; p < 131 && i < 160; ++i) {
      unsigned* row = powers[p].rows[i];
      for (int k = 0; k < 5; ++k) row[k] = k == i / 32 ? 1u << (i % 32) : 0;
      if (p == 0) {
        sw_xorwow_step(row);
      } else {
        sw_transform(powers[p - 1], row);
        sw_transform(powers[p - 1], row);
      }
    }
    __atomic_store_n(&ready, p < 131 ? p + 1 : p, __ATOMIC_RELEASE);
    __atomic_clear(&busy, __ATOMIC_RELEASE);
  }
  return powers[power];
}
SW_FN void sw_xorwow_skip(curandStateXORWOW* s, unsigned long long n, int power) {
  for (; n != 0; n >>= 1, ++power)
    if (n & 1) sw_transform(sw_xorwow_power(power), s->v);
}
SW_FN void skipahead(unsigned long long n, curandStateXORWOW* s) {
  sw_xorwow_skip(s, n, 0);
  s->d += 362437u * (unsigned)n;
}
SW_FN void skipahead_sequence(unsigned long long n, curandStateXORWOW* s) {
  sw_xorwow_skip(s, n, 67);  // 362437 * 2^67 is 0 in 32 bits
}
SW_FN void curand_init(unsigned long long seed, unsigned long long subsequence,
                       unsigned long long offset, curandStateXORWOW* s) {
  const unsigned a = 1099087573u * ((unsigned)seed ^ 0xaad26b49u);
  const unsigned b = 2591861531u * ((unsigned)(seed >> 32) ^ 0xf7dcefddu);
  *s = {};
  s->d = 6615241u + b + a;
  s->v[0] = 123456789u + a;
  s->v[1] = 362436069u ^ a;
  s->v[2] = 521288629u + b;
  s->v[3] = 88675123u ^ b;
  s->v[4] = 5783321u + a;
  skipahead_sequence(subsequence, s);
  skipahead(offset, s);
}
SW_FN unsigned curand(curandStateXORWOW* s) {
  sw_xorwow_step(s->v);
  s->d += 362437u;
  return s->v[4] + s->d;
}

// The generator MRG32k3a (L'Ecuyer, "Good parameters and implementations for combined multiple
// recursive random number generators", 1999): two recurrences modulo primes. Skipping multiplies
// their three last numbers by a power of a matrix.
struct curandStateMRG32k3a {
  unsigned s1[3], s2[3];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef curandStateMRG32k3a curandStateMRG32k3a_t;

constexpr unsigned long long sw_mrg_modulus_1 = 4294967087, sw_mrg_modulus_2 = 4294944443;
struct sw_mrg_matrix {
  unsigned long long rows[3][3];
};
static inline sw_mrg_matrix sw_mrg_product(const sw_mrg_matrix& a, const sw_mrg_matrix& b,
                                           unsigned long long modulus) {
  sw_mrg_matrix c{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k)
        c.rows[i][j] = (c.rows[i][j] + a.rows[i][k] * b.rows[k][j] % modulus) % modulus;
  return c;
}
// Multiplies s by the matrix of n * 2^power steps.
static inline void sw_mrg_skip(unsigned* s, sw_mrg_matrix step, unsigned long long modulus,
                               unsigned long long n, int power) {
  if (n == 0) return;
  for (int i = 0; i < power; ++i) step = sw_mrg_product(step, step, modulus);
  for (; n != 0; n >>= 1, step = sw_mrg_product(step, step, modulus)) {
    if ((n & 1) == 0) continue;
    unsigned long long sum[3] = {};
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) sum[i] = (sum[i] + step.rows[i][k] * s[k] % modulus) % modulus;
    for (int i = 0; i < 3; ++i) s[i] = (unsigned)sum[i];
  }
}
SW_FN void sw_mrg_skip(curandStateMRG32k3a* s, unsigned long long n, int power) {
  constexpr unsigned long long m1 = sw_mrg_modulus_1, m2 = sw_mrg_modulus_2;
  sw_mrg_skip(s->s1, {{{0, 1, 0}, {0, 0, 1}, {m1 - 810728, 1403580, 0}}}, m1, n, power);
  sw_mrg_skip(s->s2, {{{0, 1, 0}, {0, 0, 1}, {m2 - 1370589, 0, 527612}}}, m2, n, power);
}
SW_FN void skipahead(unsigned long long n, curandStateMRG32k3a* s) { sw_mrg_skip(s, n, 0); }
SW_FN void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a* s) {
  sw_mrg_skip(s, n, 76);
}
SW_FN void skipahead_sequence(unsigned long long n, curandStateMRG32k3a* s) {
  sw_mrg_skip(s, n, 127);
}
SW_FN void curand_init(unsigned long long seed, unsigned long long subsequence,
                       unsigned long long offset, curandStateMRG32k3a* s) {
  *s = {};
  const unsigned long long x[2] = {(unsigned)seed ^ 0x55555555u,
                                   (unsigned)(seed >> 32) ^ 0xaaaaaaaau};
  for (int i = 0; i < 3; ++i) {
    s->s1[i] = (unsigned)(seed == 0 ? 12345 : x[i % 2] * 12345 % sw_mrg_modulus_1);
    s->s2[i] = (unsigned)(seed == 0 ? 12345 : x[1 - i % 2] * 12345 % sw_mrg_modulus_2);
  }
  skipahead_subsequence(subsequence, s);
  skipahead(offset, s);
}
// A whole number of [1, m1], as a double.
SW_FN double curand_MRG32k3a(curandStateMRG32k3a* s) {
  constexpr unsigned long long m1 = sw_mrg_modulus_1, m2 = sw_mrg_modulus_2;
  const auto x = (unsigned)((1403580ull * s->s1[1] + 810728ull * (m1 - s->s1[0])) % m1);
  const auto y = (unsigned)((527612ull * s->s2[2] + 1370589ull * (m2 - s->s2[0])) % m2);
  s->s1[0] = s->s1[1], s->s1[1] = s->s1[2], s->s1[2] = x;
  s->s2[0] = s->s2[1], s->s2[1] = s->s2[2], s->s2[2] = y;
  return x <= y ? (double)(x - y + (unsigned)m1) : (double)(x - y);
}
SW_FN unsigned curand(curandStateMRG32k3a* s) {
  return (unsigned)(curand_MRG32k3a(s) * 1.000000048662);
}

// In (0, 1]: the middle of one of 2^32 or 2^53 intervals, whose lengths are the constants, rounded.
SW_FN float sw_curand_fraction(unsigned x) { return x * 2.3283064e-10f + 2.3283064e-10f / 2; }
SW_FN double sw_curand_fraction(unsigned low, unsigned high) {
  const unsigned long long bits = low ^ ((unsigned long long)high << 21);
  return bits * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2;
}
// Two normal numbers from two uniform ones (Box and Muller).
SW_FN float2 sw_box_muller(unsigned x, unsigned y) {
  const float angle = y * (2.3283064e-10f * 6.2831855f) + 2.3283064e-10f * 6.2831855f / 2;
  const float radius = sqrtf(-2.0f * logf(sw_curand_fraction(x)));
  return {radius * sinf(angle), radius * cosf(angle)};
}
SW_FN double2 sw_box_muller(unsigned x0, unsigned x1, unsigned y0, unsigned y1) {
  const double radius = sqrt(-2.0 * log(sw_curand_fraction(x0, x1)));
  const double turn = 2 * sw_curand_fraction(y0, y1);
  return {radius * sinpi(turn), radius * cospi(turn)};
}

template <class SwState>
SW_FN float curand_uniform(SwState* state) {
  return sw_curand_fraction(curand(state));
}
template <class SwState>
SW_FN double curand_uniform_double(SwState* state) {
  const unsigned low = curand(state), high = curand(state);
  return sw_curand_fraction(low, high);
}
template <class SwState>
SW_FN float2 curand_normal2(SwState* state) {
  const unsigned x = curand(state), y = curand(state);
  return sw_box_muller(x, y);
}
template <class SwState>
SW_FN double2 curand_normal2_double(SwState* state) {
  const unsigned x0 = curand(state), x1 = curand(state), y0 = curand(state), y1 = curand(state);
  return sw_box_muller(x0, x1, y0, y1);
}
// Those of MRG32k3a, whose fractions are of another kind.
SW_FN float curand_uniform(curandStateMRG32k3a* s) {
  return (float)(curand_MRG32k3a(s) * 2.3283065498378288e-10);
}
SW_FN double curand_uniform_double(curandStateMRG32k3a* s) {
  return curand_MRG32k3a(s) * 2.3283065498378288e-10;
}
SW_FN float2 curand_normal2(curandStateMRG32k3a* s) {
  const float x = curand_uniform(s), y = curand_uniform(s) * 6.2831855f;
  const float radius = sqrtf(-2.0f * logf(x));
  return {radius * sinf(y), radius * cosf(y)};
}
SW_FN double2 curand_normal2_double(curandStateMRG32k3a* s) {
  const double x = curand_uniform_double(s), y = curand_uniform_double(s) * 2;
  const double radius = sqrt(-2.0 * log(x));
  return {radius * sinpi(y), radius * cospi(y)};
}
// The second number of a pair is kept for the next call.
#define SW_NORMAL(real, suffix, exponential)                                        \
  template <class SwState>                                                          \
  SW_FN real curand_normal##suffix(SwState* state) {                                \
    state->boxmuller_flag##suffix = !state->boxmuller_flag##suffix;                 \
    if (!state->boxmuller_flag##suffix) return state->boxmuller_extra##suffix;      \
    const real##2 pair = curand_normal2##suffix(state);                             \
    state->boxmuller_extra##suffix = pair.y;                                        \
    return pair.x;                                                                  \
  }                                                                                 \
  template <class SwState>                                                          \
  SW_FN real curand_log_normal##suffix(SwState* state, real mean, real deviation) { \
    return exponential(mean + deviation * curand_normal##suffix(state));            \
  }
SW_NORMAL(float, , expf)
SW_NORMAL(double, _double, exp)
#undef SW_NORMAL
SW_FN float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return {sw_curand_fraction(x.x), sw_curand_fraction(x.y), sw_curand_fraction(x.z),
          sw_curand_fraction(x.w)};
}
SW_FN double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return {sw_curand_fraction(x.x, x.y), sw_curand_fraction(x.z, x.w)};
}
SW_FN float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  const float2 a = sw_box_muller(x.x, x.y), b = sw_box_muller(x.z, x.w);
  return {a.x, a.y, b.x, b.y};
}

// Poisson numbers. Their distribution is exact, but the numbers are not those of a GPU, whose
// algorithm is another one.

// W. Hoermann, The transformed rejection method for generating Poisson random variables, 1993
// (PTRS), for a mean of 10 or more.
template <class SwState>
SW_FN unsigned sw_poisson_by_rejection(SwState* state, double mean) {
  const double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
  const double inverse = 1.1239 + 1.1328 / (b - 3.4), accepted = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = curand_uniform_double(state) - 0.5, v = curand_uniform_double(state);
    const double distance = 0.5 - fabs(u);
    if (distance <= 0) continue;
    const double k = floor((2 * a / distance + b) * u + mean + 0.43);
    if (distance >= 0.07 && v <= accepted) return (unsigned)k;
    if (k < 0 || (distance < 0.013 && v > distance)) continue;
    if (log(v) + log(inverse) - log(a / (distance * distance) + b) <=
        k * log(mean) - mean - lgamma(k + 1))
      return (unsigned)k;
  }
}

template <class SwState>
SW_FN unsigned curand_poisson(SwState* state, double mean) {
  if (mean >= 10) return sw_poisson_by_rejection(state, mean);
  const double limit = exp(-mean);
  unsigned count = 0;
  for (double product = curand_uniform_double(state); product > limit; ++count)
    product *= curand_uniform_double(state);
  return count;
}
template <class SwState>
SW_FN uint4 curand_poisson4(SwState* state, double mean) {
  const unsigned x = curand_poisson(state, mean), y = curand_poisson(state, mean);
  const unsigned z = curand_poisson(state, mean), w = curand_poisson(state, mean);
  return {x, y, z, w};
}
