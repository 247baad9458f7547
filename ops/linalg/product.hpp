// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "spanwise/core/array.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/op_sdk.hpp"

/// Products of vectors and matrices of any strides, on the arrays' device: by the device's library
/// (a BLAS, cuBLAS) if it supports the dtype, else by Spanwise's own loops and kernels. Transposed
/// factors are passed to the library as such; only a factor without an axis of stride 1 is copied.
/// On a GPU, all work is queued on the current stream.
namespace spanwise::ops::linalg {

/// NumPy's generalised ufuncs of these names, broadcasting over the axes before those of the
/// product.
enum class ProductKind {
  matmul,  ///< (n?, k), (k, m?) -> (n?, m?)
  vecdot,  ///< (n), (n) -> (): conjugates the first
  matvec,  ///< (m, n), (n) -> (m)
  vecmat,  ///< (n), (n, m) -> (m): conjugates the first
};

/// The memory order of a new result.
enum class ResultLayout {
  as_operands,  ///< the axes before those of the product in the operands' order in memory, then
                ///< those of the product in C order (numpy.matmul's order="K")
  rows,         ///< C order
  columns,      ///< Fortran order
};

/// The result is alpha * product + beta * addend. Integers and bool: whole factors; of bool, "or"
/// is the sum.
struct ProductOptions {
  double alpha = 1, beta = 1;
  /// Broadcast together with the product, and takes part in the promotion. May share memory with
  /// out.
  const Array* addend = nullptr;
  std::optional<DType> dtype{};  ///< of the computation; default: the promoted dtype
  Casting casting = Casting::same_kind;
  /// May share memory with the operands and have any layout; the result is cast to its dtype if
  /// `casting` allows that.
  const Array* out = nullptr;
  ResultLayout layout = ResultLayout::as_operands;  ///< used without out
};

/// Returns *options.out, or a new array. Throws LayoutError if the shapes do not match, and
/// DTypeError, DeviceError or ReadOnlyError; each message begins with the product's name.
SW_API Array multiply(ProductKind product, const Array& left, const Array& right,
                      const ProductOptions& options = {});

/// The shape of the result of multiply() for operands, and an addend, of these shapes, in which
/// extents of -1 are unknown. Throws LayoutError as it does.
SW_API Shape product_shape(ProductKind product, const Shape& left, const Shape& right,
                           const Shape* addend = nullptr);

/// The axes of a contraction; all other axes are kept.
struct ContractedAxes {
  std::span<const int> left_batch, right_batch;  ///< pairs that are kept as one axis
  std::span<const int> left_sum, right_sum;      ///< pairs that are summed over
};

/// A new C-contiguous array with the axes (batch..., left's others..., right's others...), of the
/// operands' promoted dtype. The axes of a pair have equal extents; those of a batch pair may have
/// extent 1, too. Throws LayoutError, DTypeError and DeviceError, whose messages begin with
/// `caller`.
SW_API Array contract(const char* caller, const Array& left, const Array& right,
                      const ContractedAxes& axes);

/// ProductKind::matmul as a graph op, registered as "matmul".
SW_API Ref<const Op> matmul_op();

/// alpha * a @ b + beta * c, of inputs a, b and c: matrices, vectors or batches of matrices as
/// matmul takes them, and c broadcast together with their product. Without an input c: alpha * a @
/// b. Registered as "affine" with the real properties alpha and beta. Throws ArgumentError for
/// factors that are not finite, and, when a node is made, DTypeError for factors of integers that
/// are not whole numbers, or of bool that are not 0 or 1.
SW_API Ref<const Op> affine_op(double alpha, double beta);

}  // namespace spanwise::ops::linalg
