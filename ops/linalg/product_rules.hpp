// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "product.hpp"
#include "spanwise/op_sdk.hpp"

/// What the graph ops of products share.
namespace spanwise::ops::linalg {

/// The shape of the product of the first two inputs, broadcast with the third if there is one, as
/// far as the types show. Throws LayoutError as product_shape().
Shape product_type_shape(std::span<const Variable> inputs);

/// Where the extent of the axis `from_last` (1 is the last) of the product of the node's first two
/// inputs comes from.
std::vector<ExtentSource> product_extent_sources(const Apply& node, int from_last);

/// The derivatives with respect to the factors of a @ b, from `g`, that of the product.
std::vector<Cotangent> product_gradient(const Variable& a, const Variable& b, const Variable& g);

/// Computes alpha * input 0 @ input 1 + beta * input 2, where the node has a third input.
std::unique_ptr<Thunk> product_thunk(const ThunkContext& context, double alpha, double beta,
                                     bool overwrites_addend);

}  // namespace spanwise::ops::linalg
