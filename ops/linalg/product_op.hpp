// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "product.hpp"
#include "spanwise/op_sdk.hpp"

namespace spanwise::ops::linalg {

/// Product::matmul as a graph op, registered as "matmul".
SW_API Ref<const Op> matmul_op();

/// alpha * a @ b + beta * c, of inputs a, b and c: matrices, vectors or batches of matrices as
/// matmul takes them, and c broadcast together with their product. Without an input c: alpha * a @
/// b. Registered as "affine" with the real properties alpha and beta. Throws ArgumentError for
/// factors that are not finite, and, when a node is made, DTypeError for factors of integers that
/// are not whole numbers, or of bool that are not 0 or 1.
SW_API Ref<const Op> affine_op(double alpha, double beta);

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
