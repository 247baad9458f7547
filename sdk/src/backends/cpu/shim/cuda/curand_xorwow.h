// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The generator XORWOW (Marsaglia, "Xorshift RNGs", 2003) with cuRAND's seeding and subsequences of
// 2^67 numbers. Skipping multiplies the 160 bits of the state by a power of the step's bit matrix;
// the powers are computed by squaring, once for a module.

#include "spanwise_math.h"
#include "spanwise_vectors.h"

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
