// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "product.hpp"
#include "spanwise/op_sdk.hpp"

namespace spanwise::ops::linalg {

/// ProductKind::matmul as a graph op, registered as "matmul".
SW_API Ref<const Op> matmul_op();

/// alpha * a @ b + beta * c, of inputs a, b and c: matrices, vectors or batches of matrices as
/// matmul takes them, and c broadcast together with their product. Without an input c: alpha * a @
/// b. Registered as "affine" with the real properties alpha and beta. Throws ArgumentError for
/// factors that are not finite, and, when a node is made, DTypeError for factors of integers that
/// are not whole numbers, or of bool that are not 0 or 1.
SW_API Ref<const Op> affine_op(double alpha, double beta);

}  // namespace spanwise::ops::linalg
