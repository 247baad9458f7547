// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/array.hpp"

namespace spanwise::ops::linalg {

/// result[...] = left @ right, for stacks of matrices (rank >= 2) whose shapes match; the axes
/// before the last two broadcast to the result's. The factors are cast to the result's dtype.
/// `conjugates`: conjugates left, whose matrices then have one row. The result overlaps neither the
/// factors nor itself, and all arrays are on one device.
void run_product(const Array& left, const Array& right, const Array& result, bool conjugates);

}  // namespace spanwise::ops::linalg
