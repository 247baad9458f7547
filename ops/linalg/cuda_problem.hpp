// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "problem.hpp"

namespace spanwise::ops::linalg {

/// A problem as the kernels' parameter, struct PackedProblem of product_problem.cuh.
std::vector<std::byte> packed_problem(const Problem& problem);

}  // namespace spanwise::ops::linalg
