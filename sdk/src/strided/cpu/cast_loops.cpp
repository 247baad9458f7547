// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <complex>
#include <cstring>

#include "core/element_conversion.hpp"
#include "spanwise/core/element_types.hpp"
#include "spanwise/runtime/instruction_sets.hpp"
#include "strided/cpu/block_kernels.hpp"

// Casts between all computable dtypes.
namespace spanwise::strided {
namespace {

using core::convert;
#include "strided/cpu/cast_loops.inc"

BlockKernel simd_cast([[maybe_unused]] DType from, [[maybe_unused]] DType to) {
#if defined(__x86_64__)
  if (has_avx512()) return avx512_cast(from, to);
  if (has_avx2()) return avx2_cast(from, to);
#endif
  return nullptr;
}

}  // namespace

BlockKernel cast_kernel(DType from, DType to) {
  if (const BlockKernel simd = simd_cast(from, to)) return simd;
  return core::visit(from, "cast", [&](auto source) {
    return core::visit(to, "cast", [](auto target) -> BlockKernel {
      return &cast_block<typename decltype(source)::type, typename decltype(target)::type>;
    });
  });
}

}  // namespace spanwise::strided
