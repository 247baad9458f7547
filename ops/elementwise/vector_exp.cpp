// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "cpu_kernels.hpp"
#include "independent.hpp"

#if defined(__x86_64__)

namespace spanwise::ops {
namespace {

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
namespace exp_avx2 {
#include "exp_loops.inc"
}
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl"))), \
                             apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,prefer-vector-width=512")
#endif
namespace exp_avx512 {
#include "exp_loops.inc"
}
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

}  // namespace

Loop find_vector_exp(DType dtype) noexcept {
  const bool is_float = dtype == float32;
  if (!is_float && dtype != float64) return nullptr;
  if (has_avx512()) return is_float ? &exp_avx512::exp_all<float> : &exp_avx512::exp_all<double>;
  if (!has_avx2_and_fma()) return nullptr;
  return is_float ? &exp_avx2::exp_all<float> : &exp_avx2::exp_all<double>;
}

}  // namespace spanwise::ops

#else

namespace spanwise::ops {

Loop find_vector_exp(DType) noexcept { return nullptr; }

}  // namespace spanwise::ops

#endif
