// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cpu_kernels.hpp"
#include "spanwise/runtime/instruction_sets.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>

namespace spanwise::ops::random {
namespace {

SW_BEGIN_AVX2_FMA
namespace avx2 {
#define SW_AVX2
#include "cpu_loops.inc"
#undef SW_AVX2
}  // namespace avx2
SW_END_INSTRUCTIONS

}  // namespace

Fill find_avx2_fill(Distribution kind, int itemsize) {
  return has_avx2_and_fma() ? avx2::find(kind, itemsize) : nullptr;
}
Permute find_avx2_permute() { return has_avx2_and_fma() ? &avx2::permute : nullptr; }

}  // namespace spanwise::ops::random

#else

namespace spanwise::ops::random {

Fill find_avx2_fill(Distribution, int) { return nullptr; }
Permute find_avx2_permute() { return nullptr; }

}  // namespace spanwise::ops::random

#endif
