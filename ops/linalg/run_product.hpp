// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/core/array.hpp"

namespace spanwise::ops::linalg {

/// The options of a product.
struct ProductTerms {
  bool conjugates = false;  ///< conjugates left, whose matrices then have one row
  double alpha = 1, beta = 0;
  /// Of the result's shape, with stride 0 along broadcast axes; null where beta is 0. The same view
  /// as the result, or without common memory.
  const Array* addend = nullptr;
};

/// result[...] = alpha * left @ right + beta * addend, for stacks of matrices (rank >= 2) whose
/// shapes match; the axes before the last two broadcast to the result's. The factors and the addend
/// are cast to the result's dtype. The result overlaps neither the factors nor itself, and all
/// arrays are on one device.
void run_product(const Array& left, const Array& right, const Array& result,
                 const ProductTerms& terms);

}  // namespace spanwise::ops::linalg
