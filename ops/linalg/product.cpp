// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "product.hpp"

#include <array>
#include <cstdint>
#include <utility>

#include "product_shape.hpp"
#include "run_product.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/strided/walk.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise::ops::linalg {
namespace {

/// The operands as batches of matrices, and the shape of their product.
class ProductOperands {
 public:
  ProductOperands(ProductKind product, const Array& left, const Array& right)
      : info_(info_of(product)),
        left_shape_(left.shape()),
        right_shape_(right.shape()),
        product_shape_(product, left_shape_, right_shape_),
        left_(left),
        right_(right) {
    if (product_shape_.drops_row) left_ = left.expand(left.rank() - 1);
    if (product_shape_.drops_column) right_ = right.expand(right.rank());
  }
  ProductOperands(const ProductOperands&) = delete;
  ProductOperands& operator=(const ProductOperands&) = delete;

  const Array& left() const noexcept { return left_; }
  const Array& right() const noexcept { return right_; }
  /// The device of a new result.
  Device device() const noexcept { return working_device(left_.device()); }
  Shape shape() const { return product_shape_.whole(); }

  /// An uninitialised result.
  Array new_result(DType dtype, ResultLayout how) const {
    const Shape extents = shape();
    Layout layout = Layout::row_major(extents);
    if (how == ResultLayout::columns)
      layout = Layout::column_major(extents);
    else if (how == ResultLayout::as_operands && product_shape_.batch.size() > 1)
      layout = layout_as_operands(extents);
    return empty_in(std::move(layout), dtype, device());
  }

  /// `result` with the axes that the product drops inserted addition, with extent 1.
  Array as_matrices(const Array& result) const {
    const bool drops_column = product_shape_.drops_column;
    Array matrices =
        product_shape_.drops_row ? result.expand(result.rank() - (drops_column ? 0 : 1)) : result;
    return drops_column ? matrices.expand(matrices.rank()) : matrices;
  }

  void check_out(const Array& out) const {
    const Shape expected = shape();
    bool fits = out.rank() >= expected.size();
    const int core_rank = expected.size() - product_shape_.batch.size();
    for (int i = 1; fits && i <= expected.size(); ++i) {
      const std::int64_t extent = expected[expected.size() - i];
      fits = extent == out.shape()[out.rank() - i] || (i > core_rank && extent == 1);
    }
    if (!fits)
      fail<LayoutError>(info_.name, ": the result of shapes ", left_shape_, " and ", right_shape_,
                        " has shape ", expected, ", which does not fit out's shape ", out.shape(),
                        "; pass an out of that shape (gufunc signature ", info_.signature, ")");
    if (out.readonly())
      fail<ReadOnlyError>(info_.name, ": cannot write to ", out,
                          ", which is read-only; pass a writable out=");
    check_device(info_.name, out, device());
  }

 private:
  // Only the batch axes follow the operands' order in memory, so the axes of the product get extent
  // 1 in both operands.
  Layout layout_as_operands(const Shape& extents) const {
    const int core_rank = extents.size() - product_shape_.batch.size();
    const auto batch_only = [&](Layout layout) {
      for (int axis = layout.rank() - 2; axis < layout.rank(); ++axis) layout.shape[axis] = 1;
      for (int i = 2; i > core_rank; --i) {
        layout.shape = layout.shape.erased(layout.rank() - 1);
        layout.strides = layout.strides.erased(layout.shape.size());
      }
      return layout;
    };
    const Layout left = batch_only(left_.layout()), right = batch_only(right_.layout());
    const Layout* const operands[] = {&left, &right};
    return result_layout(extents, operands);
  }
  const ProductInfo& info_;
  Shape left_shape_, right_shape_;
  ProductShape product_shape_;
  Array left_, right_;
};

}  // namespace

void check_device(const char* caller, const Array& array, Device device) {
  if (!work_together(array.device(), device))
    fail<DeviceError>(caller, ": operands are on ", device, " and on ", array.device(),
                      "; expected one device, move one of them with .to(\"", device, "\")");
}

DType computed_dtype(const char* caller, const Array& left, const Array& right,
                     const ProductOptions& options) {
  std::array<const Array*, 3> operands{&left, &right, options.addend};
  const auto count = options.addend == nullptr ? 2 : 3;
  DType dtype = left.dtype();
  for (const Array* array : std::span(operands.data(), count)) {
    if (!array->dtype().is_computable())
      fail<DTypeError>(caller, ": cannot multiply arrays of ", array->dtype(), " (shapes ",
                       left.shape(), " and ", right.shape(), "); cast them with astype()");
    if (array->dtype() != dtype) dtype = promote(dtype, array->dtype());
  }
  if (options.dtype) dtype = *options.dtype;
  if (!dtype.is_computable()) fail<DTypeError>(caller, ": cannot compute in ", dtype);
  if (options.casting == Casting::unsafe) return dtype;
  for (const Array* array : std::span(operands.data(), count))
    if (!can_cast(array->dtype(), dtype, options.casting))
      fail<DTypeError>(caller, ": cannot cast an operand from ", array->dtype(), " to ", dtype,
                       " by the casting rule; allow more with casting=\"unsafe\"");
  return dtype;
}

namespace {

// Runs a product into `result`, whose shape is that of the product.
void run_into(const ProductOperands& operation, const Array& result, ProductTerms terms,
              const Array* addend) {
  std::optional<Array> added;
  if (addend != nullptr) {
    const bool is_whole = addend->shape() == result.shape();
    added = operation.as_matrices(is_whole ? *addend : addend->broadcast_to(result.shape()));
    terms.addend = &*added;
  } else {
    terms.beta = 0;
  }
  run_product(operation.left(), operation.right(), operation.as_matrices(result), terms);
}

// Whether the addend has the product's shape or is broadcast to it.
bool fits_product(const Shape& product, const Array* addend) {
  return addend == nullptr || addend->shape() == product ||
         broadcast_shapes(std::array{product, addend->shape()}) == product;
}

// Where the product is broadcast to the addend's shape: each of its elements is a product of depth
// 1 in a second call.
Array multiply_and_broadcast(const ProductOperands& operation, const Array& left,
                             const Array& right, ProductKind product, const ProductOptions& options,
                             DType dtype) {
  const ProductOptions alone{.dtype = dtype, .casting = options.casting};
  const Array values = multiply(product, left, right, alone);
  const Shape shape = broadcast_shapes(std::array{values.shape(), options.addend->shape()});
  const Array result =
      options.out != nullptr ? *options.out : empty(shape, dtype, operation.device());
  ProductOptions addition = options;
  const Array column = result.expand(result.rank());
  const Array addend = options.addend->broadcast_to(shape).expand(shape.size());
  addition.addend = &addend;
  addition.out = &column;
  const Array one = full(Shape{1, 1}, Scalar(true), dtype, operation.device());
  multiply(ProductKind::matmul, values.broadcast_to(shape).expand(shape.size()), one, addition);
  return result;
}

}  // namespace

Array multiply(ProductKind product, const Array& left, const Array& right,
               const ProductOptions& options) {
  const char* caller = info_of(product).name;
  const ProductOperands operation(product, left, right);
  check_device(caller, right, left.device());
  const Array* const addend = options.addend;
  if (addend != nullptr) check_device(caller, *addend, left.device());
  const DType dtype = computed_dtype(caller, left, right, options);
  if (!fits_product(operation.shape(), addend))
    return multiply_and_broadcast(operation, left, right, product, options, dtype);
  const ProductTerms terms{.conjugates = info_of(product).conjugates && dtype.is_complex(),
                           .alpha = options.alpha,
                           .beta = options.beta};
  if (options.out == nullptr) {
    Array result = operation.new_result(dtype, options.layout);
    run_into(operation, result, terms, addend);
    return result;
  }
  const Array& out = *options.out;
  operation.check_out(out);
  if (options.casting != Casting::unsafe && !can_cast(dtype, out.dtype(), options.casting))
    fail<DTypeError>(caller, ": cannot cast the result from ", dtype, " to ", out.dtype(),
                     " by the casting rule; allow more with casting=\"unsafe\", or pass another "
                     "out=");
  const bool addend_allows_direct_write = addend == nullptr || !may_share_memory(*addend, out) ||
                                          (addend->dtype() == dtype && is_same_view(*addend, out));
  const bool is_direct = out.dtype() == dtype && !may_share_memory(left, out) &&
                         !may_share_memory(right, out) && addend_allows_direct_write &&
                         !out.layout().may_overlap_itself();
  if (is_direct) {
    run_into(operation, out, terms, addend);
  } else {
    const Array temporary = empty(operation.shape(), dtype, operation.device());
    run_into(operation, temporary, terms, addend);
    copy(temporary, out);
  }
  return out;
}

}  // namespace spanwise::ops::linalg
