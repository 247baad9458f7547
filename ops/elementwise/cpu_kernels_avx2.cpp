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
constexpr bool in_any_layout = false;  // wider vectors do nothing for single elements
#include "cpu_loops.inc"

// Without the complex types: their loops lean on the C++ library, whose functions must not be
// compiled for one processor only.
CpuKernel find(OpId op, DType dtype) {
  switch (op) {
#define SW_OP(name, Body, inputs, dtypes, result, traits)                            \
  case OpId::name:                                                                   \
    if constexpr (((traits) & vectorises) != 0)                                      \
      return pick < Body, (dtypes) & ~unsigned{complexes}, traits, inputs > (dtype); \
    break;
#include "table.inc"
#undef SW_OP
  }
  return {};
}
}  // namespace avx2
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

}  // namespace

CpuKernel find_avx2_loops(OpId op, DType dtype) {
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  return has_avx2 ? avx2::find(op, dtype) : CpuKernel{};
}

}  // namespace spanwise::ops

#else

namespace spanwise::ops {

CpuKernel find_avx2_loops(OpId, DType) { return {}; }

}  // namespace spanwise::ops

#endif
