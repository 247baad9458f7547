// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/instruction_sets.hpp"
#include "strided/cpu/loops/cast_block.hpp"

namespace spanwise::strided {
namespace {

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
  return core::visit(from, "cast",
                     [&](auto type) { return cast_from<typename decltype(type)::type>(to); });
}

}  // namespace spanwise::strided
