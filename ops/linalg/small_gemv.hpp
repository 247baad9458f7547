// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "problem.hpp"

namespace spanwise::ops::linalg {

/// Computes a product of a small float32 or float64 matrix and a vector, in the calling thread, for
/// which a library call takes longer. Returns false, with nothing written, for other problems, and
/// on processors without AVX2 and FMA.
bool small_gemv(const Problem& problem);

}  // namespace spanwise::ops::linalg
