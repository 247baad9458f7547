// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/copy/block.hpp"
#include "backends/cpu/copy/shuffle_indices.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace spanwise::cpu_backend {
namespace baseline {
namespace {

#define SW_VECTOR_BYTES 16
#include "backends/cpu/copy/move_loops.hpp"
#undef SW_VECTOR_BYTES

}  // namespace
}  // namespace baseline

constexpr MoveKernels baseline_kernels = baseline::kernels;

}  // namespace spanwise::cpu_backend
