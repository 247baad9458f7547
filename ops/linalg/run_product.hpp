// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/array.hpp"

namespace spanwise::ops::linalg {

/// result[...] = left @ right: stacks of matrices of at least two axes whose shapes fit, the axes
/// before the last two broadcasting to the result's. The factors are cast to the result's dtype.
/// `conjugates`: left's conjugates, and its matrices have one row. The result shares no memory with
/// the factors or with itself, and all are on one device.
void run_product(const Array& left, const Array& right, const Array& result, bool conjugates);

}  // namespace spanwise::ops::linalg
