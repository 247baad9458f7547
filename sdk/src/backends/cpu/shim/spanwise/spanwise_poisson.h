// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Poisson numbers of any of cuRAND's generators, the end of curand_kernel.h. Their distribution is
// exact, but the numbers are not those of a GPU, whose algorithm is another one.

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
