// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "problem.hpp"

namespace spanwise::ops::linalg {

/// The sizes that gemv_on_cpu() computes: those for which a library takes longer, or all.
enum class GemvSizes { where_faster, all };

/// Computes a product of a float32 or float64 matrix, whose rows or columns are contiguous, and a
/// vector, on all threads if it is large. Returns false, with nothing written, for other problems
/// and sizes, and on processors without AVX2 and FMA.
bool gemv_on_cpu(const Problem& problem, GemvSizes sizes);

}  // namespace spanwise::ops::linalg
