// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The headers that cast_wide.inc uses, included here so that they are compiled without AVX.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "spanwise/core/element_types.hpp"
#include "spanwise/runtime/instruction_sets.hpp"
#include "strided/cpu/block_kernels.hpp"

#if defined(__x86_64__)

namespace spanwise::strided {
namespace {

SW_BEGIN_AVX2
namespace avx2_casts {
#include "strided/cpu/cast_wide.inc"
}
SW_END_INSTRUCTIONS

SW_BEGIN_AVX512
namespace avx512_casts {
#include "strided/cpu/cast_wide.inc"
}
SW_END_INSTRUCTIONS

}  // namespace

BlockKernel avx2_cast(DType from, DType to) { return avx2_casts::wide_cast(from, to); }
BlockKernel avx512_cast(DType from, DType to) { return avx512_casts::wide_cast(from, to); }

}  // namespace spanwise::strided
#endif
