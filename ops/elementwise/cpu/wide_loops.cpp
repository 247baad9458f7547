// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include <complex>
#include <type_traits>
#include <utility>

#include "elementwise_loops.hpp"

#if defined(__x86_64__)

namespace spanwise::ops {
namespace {

SW_BEGIN_AVX2
namespace avx2 {
constexpr bool is_wide = true;
#include "elementwise_loops.inc"
}  // namespace avx2
SW_END_INSTRUCTIONS
SW_BEGIN_AVX512
namespace avx512 {
constexpr bool is_wide = true;
#include "elementwise_loops.inc"
}  // namespace avx512
SW_END_INSTRUCTIONS

}  // namespace

CpuLoops find_wide_loops(OpId op, DType dtype) {
  if (has_avx512()) return avx512::find(op, dtype);
  return has_avx2() ? avx2::find(op, dtype) : CpuLoops{};
}

}  // namespace spanwise::ops

#else

namespace spanwise::ops {
CpuLoops find_wide_loops(OpId, DType) { return {}; }
}  // namespace spanwise::ops

#endif
