// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "draw.hpp"

#include "spanwise/runtime/instruction_sets.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace spanwise::ops::random {
namespace {

namespace baseline {
#include "random_loops.inc"
}  // namespace baseline

#if defined(__x86_64__)
SW_BEGIN_AVX2_FMA
namespace avx2 {
#define SW_AVX2
#include "random_loops.inc"
#undef SW_AVX2
}  // namespace avx2
SW_END_INSTRUCTIONS
#endif

}  // namespace

int elements_per_block(Distribution kind, int itemsize) noexcept {
  using namespace baseline;  // NOLINT(google-build-using-namespace): the bodies
#define SW_BODY(name, bytes, ...) \
  if (kind == Distribution::name && itemsize == (bytes)) return __VA_ARGS__::each;
  SW_RANDOM_BODIES(SW_BODY)
#undef SW_BODY
  return 0;
}

Fill find_baseline_fill(Distribution kind, int itemsize) { return baseline::find(kind, itemsize); }

#if defined(__x86_64__)
Fill find_avx2_fill(Distribution kind, int itemsize) {
  return has_avx2_and_fma() ? avx2::find(kind, itemsize) : nullptr;
}
Permute find_avx2_permute() { return has_avx2_and_fma() ? &avx2::permute : nullptr; }
#else
Fill find_avx2_fill(Distribution, int) { return nullptr; }
Permute find_avx2_permute() { return nullptr; }
#endif

Fill find_fill(Distribution kind, int itemsize) {
  const Fill wide = find_avx2_fill(kind, itemsize);
  return wide != nullptr ? wide : find_baseline_fill(kind, itemsize);
}

Permute find_permute() {
  const Permute wide = find_avx2_permute();
  return wide != nullptr ? wide : &baseline::permute;
}

}  // namespace spanwise::ops::random
