// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/core/array.hpp"

// Comparisons of mode "debug".
namespace spanwise::graph {

/// Whether dtypes, shapes and the bytes of all elements are equal.
bool have_same_bytes(const Array& a, const Array& b);

/// Whether dtypes and shapes are equal, and the elements up to the effect of another order of
/// summation, for values that are computed from numbers of magnitude up to `largest`. With
/// `finite_only`, elements where `b` is not finite are not compared.
bool have_same_values(const Array& a, const Array& b, double largest, bool finite_only = false);

/// The largest magnitude of a finite element; 0 for arrays that are not of a floating dtype.
double largest_number(const Array& array);

}  // namespace spanwise::graph
