// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/copy/block.hpp"
#include "backends/cpu/copy/move_places.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace spanwise::host {
namespace avx2 {
namespace {

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
#define SW_VECTOR_BYTES 32
#include "backends/cpu/copy/move_loops.hpp"
#undef SW_VECTOR_BYTES
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

}  // namespace
}  // namespace avx2

constexpr MoveKernels avx2_kernels = avx2::kernels;

}  // namespace spanwise::host
#endif
