// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "divisions.hpp"

#include <cstring>
#include <type_traits>

#include "../independent.hpp"
#include "cpu_kernels.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

namespace spanwise::ops {
namespace {

#define SW_VECTOR_BYTES 32
SW_BEGIN_AVX2
namespace divide_avx2 {
#include "divide_loops.inc"
}
#undef SW_VECTOR_BYTES
#define SW_VECTOR_BYTES 64
SW_END_INSTRUCTIONS
SW_BEGIN_AVX512
namespace divide_avx512 {
#include "divide_loops.inc"
}
#undef SW_VECTOR_BYTES
SW_END_INSTRUCTIONS

}  // namespace

DivideByNumber find_divide_by_number(DType dtype, Division division) noexcept {
  if (has_avx512()) return divide_avx512::find_divide(dtype, division);
  return has_avx2() ? divide_avx2::find_divide(dtype, division) : nullptr;
}

}  // namespace spanwise::ops

#endif
