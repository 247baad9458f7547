// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "cpu_loops.hpp"

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
namespace exp_avx2 {
#include "exp_loops.inc"
}
SW_END_INSTRUCTIONS
SW_BEGIN_AVX512
namespace exp_avx512 {
#include "exp_loops.inc"
}
SW_END_INSTRUCTIONS

SW_BEGIN_AVX512
namespace power_avx512 {
#include "exp_loops.inc"
// Uses exp_loops.inc.
#include "power_of_doubles.inc"
}  // namespace power_avx512
namespace float_power_avx512 {
#include "power_of_floats.inc"
}
SW_END_INSTRUCTIONS

}  // namespace

Loop find_vector_exp(DType dtype) noexcept {
  const bool is_float = dtype == float32;
  if (!is_float && dtype != float64) return nullptr;
  if (has_avx512()) return is_float ? &exp_avx512::exp_all<float> : &exp_avx512::exp_all<double>;
  if (!has_avx2_and_fma()) return nullptr;
  return is_float ? &exp_avx2::exp_all<float> : &exp_avx2::exp_all<double>;
}

CpuLoops find_vector_power(DType dtype) noexcept {
  if (!has_avx512()) return {};
  if (dtype == float32)
    return {.loop = &float_power_avx512::powers,
            .with_number = &float_power_avx512::powers_by_number};
  if (dtype == float64)
    return {.loop = &power_avx512::powers, .with_number = &power_avx512::powers_by_number};
  return {};
}

}  // namespace spanwise::ops

#endif
