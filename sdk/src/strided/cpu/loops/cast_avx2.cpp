// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// What cast_wide.inc uses: included here, so that it is compiled without AVX2.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/element_types.hpp"
#include "spanwise/runtime/instruction_sets.hpp"
#include "strided/cpu/loops/block.hpp"

#if defined(__x86_64__)

namespace spanwise::strided {
namespace {

SW_BEGIN_AVX2
namespace avx2_casts {
#include "strided/cpu/loops/cast_wide.inc"
}
SW_END_INSTRUCTIONS

}  // namespace

BlockKernel avx2_cast(DType from, DType to) { return avx2_casts::find(from, to); }

}  // namespace spanwise::strided
#endif
