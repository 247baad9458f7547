// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/array.hpp"
#include "spanwise/scalar.hpp"

namespace spanwise::strided {

/// Copies and casts, on several threads if the arrays are large; complete when it returns. Shapes
/// are equal, dtypes are computable, the arrays share no memory, and `target` does
/// not overlap itself.
void copy_on_cpu(const Array& source, const Array& target);

/// Sets every element of `target`, which does not overlap itself, to `value`.
/// Throws DTypeError if it has another dtype.
void fill_on_cpu(const Array& target, const Scalar& value);

}  // namespace spanwise::strided
