// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/array.hpp"
#include "spanwise/scalar.hpp"

namespace spanwise::host {

/// Copies and casts on the calling thread and its helpers; done when it returns. Shapes equal, no
/// shared byte, no overlap of `target` with itself. Throws DTypeError for different dtypes that are
/// not both computable.
void copy(const Array& source, const Array& target);

/// Sets every element of `target`, which does not overlap itself, to `value`, of the same dtype.
void fill(const Array& target, const Scalar& value);

}  // namespace spanwise::host
