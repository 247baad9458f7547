// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "spanwise/runtime/linear_algebra.hpp"

namespace spanwise::cpu_backend::blas {

/// A block of rows and columns of a result.
struct ProductPart {
  std::int64_t row, rows, column, columns;
};

/// Minimum multiply-adds of a part: less work is not worth another thread.
inline constexpr double min_part_work = 65536.0 * 4;

/// Splits one result into about `max_parts` parts, nearly square and of at least min_part_work
/// each; returns the whole as one part if it is too small.
std::vector<ProductPart> parts_of(const GemmCall& call, std::int64_t max_parts);

/// The parts of a matrix's product with its own transpose that are on or above the diagonal. Parts
/// on the diagonal are square.
std::vector<ProductPart> upper_parts_of(const GemmCall& call, std::int64_t max_parts);

/// The call that computes `part` of the first result of the batch.
GemmCall part_of(const GemmCall& call, const ProductPart& part);

}  // namespace spanwise::cpu_backend::blas
