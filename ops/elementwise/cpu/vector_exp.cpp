// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "../independent.hpp"
#include "cpu_kernels.hpp"

#if defined(__x86_64__)

namespace spanwise::ops {
namespace {

// The same loops once per instruction set, each in a namespace of its own. exp_loops.inc uses the
// includes above.
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

}  // namespace

Loop find_vector_exp(DType dtype) noexcept {
  const bool is_float = dtype == float32;
  if (!is_float && dtype != float64) return nullptr;
  if (has_avx512()) return is_float ? &exp_avx512::exp_all<float> : &exp_avx512::exp_all<double>;
  if (!has_avx2_and_fma()) return nullptr;
  return is_float ? &exp_avx2::exp_all<float> : &exp_avx2::exp_all<double>;
}

}  // namespace spanwise::ops

#endif
