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
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,prefer-vector-width=512")
#endif
namespace avx512_casts {
#include "backends/cpu/copy/cast_wide.inc"
}
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

}  // namespace

BlockKernel avx512_cast(DType from, DType to) { return avx512_casts::find(from, to); }

}  // namespace spanwise::host
#endif
