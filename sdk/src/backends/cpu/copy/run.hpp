// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/copy/block.hpp"
#include "spanwise/array.hpp"
#include "spanwise/scalar.hpp"

namespace spanwise::cpu_backend {

/// Copies and casts, on several threads if the arrays are large; complete when it returns. Shapes
/// are equal, the arrays share no memory, and `target` does not overlap itself. Throws DTypeError
/// for different dtypes that are not both computable.
void copy(const Array& source, const Array& target);

/// Converts a block, by vectors if it is transposed; both dtypes are computable. Ignores
/// Block::stream.
void convert_tile(DType from, DType to, const Block& block);

/// Sets every element of `target`, which does not overlap itself, to `value`, of the same dtype.
void fill(const Array& target, const Scalar& value);

}  // namespace spanwise::cpu_backend
