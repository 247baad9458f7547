// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "spanwise/runtime/instruction_sets.hpp"
#include "strided/cpu/loops/block.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace spanwise::strided {
namespace avx2 {
namespace {

SW_BEGIN_AVX2
#define SW_VECTOR_BYTES 32
#include "strided/cpu/loops/move_loops.hpp"
#undef SW_VECTOR_BYTES
SW_END_INSTRUCTIONS

}  // namespace
}  // namespace avx2

constexpr MoveKernels avx2_kernels = avx2::kernels;

}  // namespace spanwise::strided
#endif
