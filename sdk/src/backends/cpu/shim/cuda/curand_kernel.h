// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// cuRAND's device API with the generators XORWOW and Philox4x32-10: the numbers of a GPU for the
// same seed, subsequence and offset; normal numbers agree to the accuracy of the math functions.

#include "curand_philox4x32_x.h"
#include "curand_xorwow.h"

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

#include "spanwise_poisson.h"
