// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "strided/cpu/loops/block.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace spanwise::strided {
namespace baseline {
namespace {

#define SW_VECTOR_BYTES 16
#include "strided/cpu/loops/move_loops.hpp"
#undef SW_VECTOR_BYTES

}  // namespace
}  // namespace baseline

constexpr MoveKernels baseline_kernels = baseline::kernels;

}  // namespace spanwise::strided
