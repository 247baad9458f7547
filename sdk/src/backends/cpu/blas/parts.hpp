// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "spanwise/gemm.hpp"

namespace spanwise::host::blas {

/// Some rows and columns of a result.
struct Part {
  std::int64_t row, rows, column, columns;
};

/// How many products of two numbers are worth handing to another thread.
inline constexpr double least_part_work = 65536.0 * 4;

/// One result cut into about `most` parts, as near to squares as they come, of enough work each.
/// One part, the whole, where that is not worth it.
std::vector<Part> parts_of(const GemmCall& call, std::int64_t most);

/// The parts of a matrix's product with its own transpose that are on or above the diagonal.
/// Those on it have as many rows as columns.
std::vector<Part> upper_parts_of(const GemmCall& call, std::int64_t most);

/// What remains to be called for a part of one result: the first of the batch.
GemmCall part_of(const GemmCall& call, const Part& part);

}  // namespace spanwise::host::blas
