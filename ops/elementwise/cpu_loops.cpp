// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cpu_loops.hpp"

#include <type_traits>

#include "cpu_numbers.hpp"

namespace spanwise::ops {
namespace {

namespace baseline {
#include "cpu_loops.inc"
}  // namespace baseline

#if defined(__x86_64__)
#define SW_HAS_AVX2_LOOPS 1
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
namespace avx2 {
#include "cpu_loops.inc"
}  // namespace avx2
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

}  // namespace

Loop find_loop(Arithmetic kind, DType dtype) noexcept {
#if defined(SW_HAS_AVX2_LOOPS)
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  if (has_avx2) return avx2::find(kind, dtype);
#endif
  return baseline::find(kind, dtype);
}

}  // namespace spanwise::ops
