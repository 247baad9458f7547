// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spanwise/array.hpp"
#include "spanwise/graph/op.hpp"

namespace spanwise::ops {

/// How to go through some arrays of one broadcast shape together: as few axes as their strides
/// allow, the result's fastest axis last. Axes of extent 1 are gone and axes that every array walks
/// in one stride are one.
struct Walk {
  std::int64_t size = 0;
  std::vector<std::int64_t> shape;                 ///< at least one axis
  std::vector<std::vector<std::int64_t>> strides;  ///< [array][axis], in elements; the result last

  int rank() const noexcept { return static_cast<int>(shape.size()); }
};

/// `operands` broadcast to `result`'s shape. Allocates nothing once `walk` has grown.
void plan_walk(std::span<const Array* const> operands, const Array& result, Walk& walk);

/// The cell's array or a new one, as output_array(), with the axes in the order of the operands'
/// memory where these agree (NumPy's order='K'), so that all are walked along their fastest axis.
const Array& result_array(Cell& cell, std::span<const Array* const> operands, const Shape& shape,
                          DType dtype, Device device);

}  // namespace spanwise::ops
