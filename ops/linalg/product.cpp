// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "product.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "product_checks.hpp"
#include "run_product.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"
#include "spanwise/strided/walk.hpp"
#include "spanwise/working_device.hpp"

namespace spanwise::ops::linalg {
namespace {

struct ProductInfo {
  const char *name, *signature;
  bool left_is_vector, right_is_vector;  ///< matmul: false, depends on operand ranks
  bool conjugates;
};

const ProductInfo& info_of(Product product) noexcept {
  static constexpr ProductInfo all[] = {{"matmul", "(n?,k),(k,m?)->(n?,m?)", false, false, false},
                                        {"vecdot", "(n),(n)->()", true, true, true},
                                        {"matvec", "(m,n),(n)->(m)", false, true, false},
                                        {"vecmat", "(n),(n,m)->(m)", true, false, true}};
  return all[static_cast<int>(product)];
}

/// The operands as stacks of matrices, and the shape of their product.
class ProductOperands {
 public:
  ProductOperands(Product product, const Array& left, const Array& right)
      : info_(info_of(product)), left_(left), right_(right) {
    check_rank(left, 0, info_.left_is_vector || product == Product::matmul ? 1 : 2);
    check_rank(right, 1, info_.right_is_vector || product == Product::matmul ? 1 : 2);
    drops_row_ = info_.left_is_vector || left.rank() == 1;
    drops_column_ = info_.right_is_vector || right.rank() == 1;
    if (drops_row_) left_ = left.expand(left.rank() - 1);
    if (drops_column_) right_ = right.expand(right.rank());
    check_depth(left, right);
    find_batch(left, right);
  }

  const Array& left() const noexcept { return left_; }
  const Array& right() const noexcept { return right_; }
  /// The device of a new result.
  Device device() const noexcept { return working_device(left_.device()); }

  /// The broadcast batch axes, then the axes of the product.
  Shape shape() const {
    Shape shape(batch_.size() + (drops_row_ ? 0 : 1) + (drops_column_ ? 0 : 1));
    int axis = 0;
    for (const std::int64_t extent : batch_) shape[axis++] = extent;
    if (!drops_row_) shape[axis++] = left_.shape()[left_.rank() - 2];
    if (!drops_column_) shape[axis++] = right_.shape().back();
    return shape;
  }

  /// An uninitialised result.
  Array new_result(DType dtype, ResultLayout how) const {
    const Shape extents = shape();
    Layout layout = Layout::row_major(extents);
    if (how == ResultLayout::columns)
      layout = Layout::column_major(extents);
    else if (how == ResultLayout::as_operands && batch_.size() > 1)
      layout = layout_as_operands(extents);
    return empty_in(std::move(layout), dtype, device());
  }

  /// `result` with the axes that the product drops inserted again, with extent 1.
  Array as_matrices(const Array& result) const {
    Array matrices = drops_row_ ? result.expand(result.rank() - (drops_column_ ? 0 : 1)) : result;
    return drops_column_ ? matrices.expand(matrices.rank()) : matrices;
  }

  void check_out(const Array& out) const {
    const Shape expected = shape();
    bool fits = out.rank() >= expected.size();
    const int own = expected.size() - batch_.size();
    for (int i = 1; fits && i <= expected.size(); ++i) {
      const std::int64_t extent = expected[expected.size() - i];
      fits = extent == out.shape()[out.rank() - i] || (i > own && extent == 1);
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
  void check_rank(const Array& array, int operand, int least) const {
    if (array.rank() < least)
      fail<LayoutError>(info_.name, ": Input operand ", operand,
                        " does not have enough dimensions (has ", array.rank(),
                        ", gufunc core with signature ", info_.signature, " requires ", least,
                        "; shape ", array.shape(), ")");
  }
  void check_depth(const Array& left, const Array& right) {
    left_shape_ = left.shape();
    right_shape_ = right.shape();
    const std::int64_t wanted = left_.shape().back();
    const std::int64_t given = right_.shape()[right_.rank() - 2];
    if (wanted != given)
      fail<LayoutError>(info_.name,
                        ": Input operand 1 has a mismatch in its core dimension 0, with gufunc "
                        "signature ",
                        info_.signature, " (size ", given, " is different from ", wanted,
                        "; shapes ", left_shape_, " and ", right_shape_, ")");
  }
  // Only the batch axes follow the operands' order in memory, so the axes of the product get extent
  // 1 in both operands.
  Layout layout_as_operands(const Shape& extents) const {
    const int own = extents.size() - batch_.size();
    const auto batch_only = [&](Layout layout) {
      for (int axis = layout.rank() - 2; axis < layout.rank(); ++axis) layout.shape[axis] = 1;
      for (int i = 2; i > own; --i) {
        layout.shape = layout.shape.erased(layout.rank() - 1);
        layout.strides = layout.strides.erased(layout.shape.size());
      }
      return layout;
    };
    const Layout left = batch_only(left_.layout()), right = batch_only(right_.layout());
    const Layout* const operands[] = {&left, &right};
    return result_layout(extents, operands);
  }
  void find_batch(const Array& left, const Array& right) {
    const int rank = std::max(left_.rank(), right_.rank()) - 2;
    batch_ = Shape(rank, 1);
    for (int i = 0; i < rank; ++i) {
      std::int64_t& extent = batch_[rank - 1 - i];
      for (const Array* array : {&left_, &right_}) {
        const int axis = array->rank() - 3 - i;
        if (axis < 0) continue;
        const std::int64_t own = array->shape()[axis];
        if (own == 1 || own == extent) continue;
        if (extent != 1)
          fail<LayoutError>(info_.name, ": operands could not be broadcast together with shapes ",
                            left.shape(), " and ", right.shape(),
                            "; the axes before those of the product must be equal or 1");
        extent = own;
      }
    }
  }

  const ProductInfo& info_;
  Array left_, right_;
  Shape left_shape_, right_shape_, batch_;
  bool drops_row_ = false, drops_column_ = false;
};

}  // namespace

void check_device(const char* who, const Array& array, Device device) {
  if (!work_together(array.device(), device))
    fail<DeviceError>(who, ": operands are on ", device, " and on ", array.device(),
                      "; expected one device, move one of them with .to(\"", device, "\")");
}

DType computed_dtype(const char* who, const Array& left, const Array& right,
                     const ProductOptions& options) {
  std::array<const Array*, 3> operands{&left, &right, options.addend};
  const auto count = options.addend == nullptr ? 2 : 3;
  DType dtype = left.dtype();
  for (const Array* array : std::span(operands.data(), count)) {
    if (!array->dtype().is_computable())
      fail<DTypeError>(who, ": cannot multiply arrays of ", array->dtype(), " (shapes ",
                       left.shape(), " and ", right.shape(), "); cast them with astype()");
    if (array->dtype() != dtype) dtype = promote(dtype, array->dtype());
  }
  if (options.dtype) dtype = *options.dtype;
  if (!dtype.is_computable()) fail<DTypeError>(who, ": cannot compute in ", dtype);
  if (options.casting == Casting::unsafe) return dtype;
  for (const Array* array : std::span(operands.data(), count))
    if (!can_cast(array->dtype(), dtype, options.casting))
      fail<DTypeError>(who, ": cannot cast an operand from ", array->dtype(), " to ", dtype,
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
                             const Array& right, Product product, const ProductOptions& options,
                             DType dtype) {
  ProductOptions alone{.dtype = dtype, .casting = options.casting};
  const Array values = multiply(product, left, right, alone);
  const Shape shape = broadcast_shapes(std::array{values.shape(), options.addend->shape()});
  const Array result =
      options.out != nullptr ? *options.out : empty(shape, dtype, operation.device());
  ProductOptions again = options;
  const Array column = result.expand(result.rank());
  const Array addend = options.addend->broadcast_to(shape).expand(shape.size());
  again.addend = &addend;
  again.out = &column;
  const Array one = full(Shape{1, 1}, Scalar(true), dtype, operation.device());
  multiply(Product::matmul, values.broadcast_to(shape).expand(shape.size()), one, again);
  return result;
}

}  // namespace

Array multiply(Product product, const Array& left, const Array& right,
               const ProductOptions& options) {
  const char* who = info_of(product).name;
  const ProductOperands operation(product, left, right);
  check_device(who, right, left.device());
  const Array* const addend = options.addend;
  if (addend != nullptr) check_device(who, *addend, left.device());
  const DType dtype = computed_dtype(who, left, right, options);
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
    fail<DTypeError>(who, ": cannot cast the result from ", dtype, " to ", out.dtype(),
                     " by the casting rule; allow more with casting=\"unsafe\", or pass another "
                     "out=");
  const bool is_beside_addend =
      addend == nullptr || !may_share_memory(*addend, out) ||
      (addend->data() == out.data() && addend->dtype() == dtype && addend->shape() == out.shape() &&
       addend->strides() == out.strides());
  const bool is_direct = out.dtype() == dtype && !may_share_memory(left, out) &&
                         !may_share_memory(right, out) && is_beside_addend &&
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

Shape product_shape(Product product, const Array& left, const Array& right, const Array* addend) {
  const Shape shape = ProductOperands(product, left, right).shape();
  if (addend == nullptr || addend->shape() == shape) return shape;
  return broadcast_shapes(std::array{shape, addend->shape()});
}

}  // namespace spanwise::ops::linalg
