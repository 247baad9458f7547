// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <type_traits>

#include <complex>

#include "cpu_kernels.hpp"
#include "independent.hpp"

#if defined(__x86_64__)

namespace spanwise::ops {
namespace {

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
namespace avx2 {
#include "wide_loops.inc"
}  // namespace avx2
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw"))), \
                             apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,prefer-vector-width=512")
#endif
namespace avx512 {
#include "wide_loops.inc"
}  // namespace avx512
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

}  // namespace

CpuKernel find_wide_loops(OpId op, DType dtype) {
  if (has_avx512()) return avx512::find(op, dtype);
  return has_avx2() ? avx2::find(op, dtype) : CpuKernel{};
}

}  // namespace spanwise::ops

#else

namespace spanwise::ops {

CpuKernel find_wide_loops(OpId, DType) { return {}; }

}  // namespace spanwise::ops

#endif
