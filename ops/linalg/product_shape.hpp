// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "product.hpp"

namespace spanwise::ops::linalg {

struct ProductInfo {
  const char *name, *signature;
  bool left_is_vector, right_is_vector;  ///< matmul: false, depends on operand ranks
  bool conjugates;
};
const ProductInfo& info_of(ProductKind product) noexcept;

/// The shape of a product, from those of its operands, in which extents of -1 are unknown. Throws
/// what product_shape() throws. The operands' shapes must outlive it.
class ProductShape {
 public:
  ProductShape(ProductKind product, const Shape& left, const Shape& right);

  bool drops_row = false, drops_column = false;  ///< an operand is a vector
  Shape batch;                                   ///< the broadcast axes before the product's

  /// The batch axes, then the axes of the product.
  Shape whole() const;

 private:
  void check_rank(const Shape& shape, int operand, int min_rank) const;
  void check_depth() const;
  Shape broadcast_batch(const Shape& left, const Shape& right) const;

  const ProductInfo& info_;
  const Shape &left_, &right_;
};

/// Throws DeviceError unless `array` is on `device` or both are on the host.
void check_device(const char* caller, const Array& array, Device device);
/// The dtype in which the product is computed. Throws DTypeError where the options forbid it.
DType computed_dtype(const char* caller, const Array& left, const Array& right,
                     const ProductOptions& options);

}  // namespace spanwise::ops::linalg
