// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "spanwise/array.hpp"
#include "spanwise/export.hpp"

/// Products of vectors and matrices of any strides, on the arrays' device: by its library (a BLAS,
/// cuBLAS) where that takes the dtype, else by loops and kernels of our own. A factor that is
/// transposed is passed on as such; only a factor without an axis of stride 1 is copied. On a GPU
/// everything is queued on the current stream.
namespace spanwise::ops::linalg {

/// NumPy's generalised ufuncs of these names, over all axes before those of the product.
enum class Product {
  matmul,  ///< (n?, k), (k, m?) -> (n?, m?)
  vecdot,  ///< (n), (n) -> (): the first one's conjugate
  matvec,  ///< (m, n), (n) -> (m)
  vecmat,  ///< (n), (n, m) -> (m): the first one's conjugate
};

/// How a new result lies.
enum class ResultLayout {
  as_operands,  ///< the axes before those of the product in the order of the operands' memory, then
                ///< those of the product in C order (numpy.matmul's order="K")
  rows,         ///< C order
  columns,      ///< Fortran order
};

struct ProductOptions {
  std::optional<DType> dtype{};  ///< to compute in; default: what the operands promote to
  Casting casting = Casting::same_kind;
  /// May share memory with the operands and be of any layout; cast to as `casting` allows.
  const Array* out = nullptr;
  ResultLayout layout = ResultLayout::as_operands;  ///< where there is no out
};

/// The result: out, or a new array. Throws LayoutError for shapes that do not fit,
/// DTypeError, DeviceError, ReadOnlyError, each with the product's name.
SW_API Array multiply(Product product, const Array& left, const Array& right,
                      const ProductOptions& options = {});

/// The shape of the result. Throws LayoutError as multiply().
SW_API Shape product_shape(Product product, const Array& left, const Array& right);

/// Which axes a contraction goes over; the others stay.
struct ContractedAxes {
  std::span<const int> left_batch, right_batch;  ///< pairwise: kept, in both
  std::span<const int> left_sum, right_sum;      ///< pairwise: multiplied and added up
};

/// A new array with the axes (batch..., left's others..., right's others...), of the dtype that the
/// operands promote to. Axes of a pair have equal extents, or one of them 1 (batch only).
SW_API Array contract(const char* who, const Array& left, const Array& right,
                      const ContractedAxes& axes);

}  // namespace spanwise::ops::linalg
