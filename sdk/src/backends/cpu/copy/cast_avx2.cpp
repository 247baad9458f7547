// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "backends/cpu/copy/block.hpp"
#include "core/element_types.hpp"

#if defined(__x86_64__)

namespace spanwise::host {
namespace {

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
namespace avx2_casts {
#include "backends/cpu/copy/cast_wide.inc"
}
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

}  // namespace

BlockKernel avx2_cast(DType from, DType to) { return avx2_casts::find(from, to); }

}  // namespace spanwise::host
#endif
