// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/copy/block.hpp"
#include "backends/cpu/copy/shuffle_indices.hpp"
#include "spanwise/runtime/instruction_sets.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace spanwise::cpu_backend {
namespace avx2 {
namespace {

SW_BEGIN_AVX2
#define SW_VECTOR_BYTES 32
#include "backends/cpu/copy/move_loops.hpp"
#undef SW_VECTOR_BYTES
SW_END_INSTRUCTIONS

}  // namespace
}  // namespace avx2

constexpr MoveKernels avx2_kernels = avx2::kernels;

}  // namespace spanwise::cpu_backend
#endif
