// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "parameters.hpp"

namespace spanwise::ops::random {

/// Computes the elements of blocks [first, last) of a draw; `out` is element 0 of a C-contiguous
/// array.
using Fill = void (*)(const Draw& draw, std::int64_t first, std::int64_t last, void* out);
/// out[i] = image of i for i in [first, last).
using Permute = void (*)(const Bijection& bijection, std::int64_t first, std::int64_t last,
                         std::int64_t* out);

/// The fastest functions for this processor. Null for element sizes that the kind does not have.
Fill find_fill(Distribution kind, int itemsize);
Permute find_permute();

/// The functions for any processor, with the same results to the bit.
Fill find_baseline_fill(Distribution kind, int itemsize);
/// The functions for AVX2 and FMA; null on processors without them.
Fill find_avx2_fill(Distribution kind, int itemsize);
Permute find_avx2_permute();

}  // namespace spanwise::ops::random
