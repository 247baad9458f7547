// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The counter-based generator Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1,
// 2, 3", 2011) with cuRAND's state: a subsequence has 2^66 numbers, four to a counter.

#include "spanwise_math.h"
#include "spanwise_vectors.h"

struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned STATE;  // how many of the four numbers in `output` are used
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

SW_FN uint4 curand_Philox4x32_10(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xd2511f53ull * counter.x, b = 0xcd9e8d57ull * counter.z;
    counter = {(unsigned)(b >> 32) ^ counter.y ^ key.x, (unsigned)b,
               (unsigned)(a >> 32) ^ counter.w ^ key.y, (unsigned)a};
    key.x += 0x9e3779b9u;
    key.y += 0xbb67ae85u;
  }
  return counter;
}

// Adds to the counter's low half, with carry, or to its high half.
SW_FN void sw_advance(curandStatePhilox4_32_10_t* s, unsigned long long n, bool in_high_half) {
  unsigned long long low = (unsigned long long)s->ctr.y << 32 | s->ctr.x;
  unsigned long long high = (unsigned long long)s->ctr.w << 32 | s->ctr.z;
  if (in_high_half) {
    high += n;
  } else {
    low += n;
    high += low < n ? 1 : 0;
  }
  s->ctr = {(unsigned)low, (unsigned)(low >> 32), (unsigned)high, (unsigned)(high >> 32)};
  s->output = curand_Philox4x32_10(s->ctr, s->key);
}
SW_FN void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* s) {
  const unsigned used = s->STATE + (unsigned)(n & 3);
  s->STATE = used % 4;
  sw_advance(s, n / 4 + used / 4, false);
}
SW_FN void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* s) {
  sw_advance(s, n, true);
}
SW_FN void curand_init(unsigned long long seed, unsigned long long subsequence,
                       unsigned long long offset, curandStatePhilox4_32_10_t* s) {
  *s = {};
  s->key = {(unsigned)seed, (unsigned)(seed >> 32)};
  skipahead_sequence(subsequence, s);
  skipahead(offset, s);
}
SW_FN unsigned curand(curandStatePhilox4_32_10_t* s) {
  const unsigned out[4] = {s->output.x, s->output.y, s->output.z, s->output.w};
  const unsigned value = out[s->STATE++];
  if (s->STATE == 4) {
    s->STATE = 0;
    sw_advance(s, 1, false);
  }
  return value;
}
SW_FN uint4 curand4(curandStatePhilox4_32_10_t* s) {
  const unsigned x = curand(s), y = curand(s), z = curand(s), w = curand(s);
  return {x, y, z, w};
}
