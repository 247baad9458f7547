// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "product.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "product_problem.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/layout.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::ops::linalg {
namespace {

struct ProductInfo {
  const char* name;
  bool left_is_vector, right_is_vector;  ///< matmul: false, depends on operand ranks
  bool conjugates;
};
const ProductInfo& info_of(ProductKind product) noexcept {
  static constexpr ProductInfo all[] = {{"matmul", false, false, false},
                                        {"vecdot", true, true, true},
                                        {"matvec", false, true, false},
                                        {"vecmat", true, false, true}};
  return all[static_cast<int>(product)];
}

Shape first_axes(const Shape& shape, int count) {
  return Shape(std::span(shape.begin(), static_cast<std::size_t>(std::max(count, 0))));
}

/// The shape of a product, from those of its operands, in which extents of -1 are unknown. Throws
/// what product_shape() throws. The operands' shapes must outlive it.
class ProductShape {
 public:
  ProductShape(ProductKind product, const Shape& left, const Shape& right)
      : info_(info_of(product)), left_(left), right_(right) {
    check_rank(left, 0, info_.left_is_vector || product == ProductKind::matmul ? 1 : 2);
    check_rank(right, 1, info_.right_is_vector || product == ProductKind::matmul ? 1 : 2);
    drops_row = info_.left_is_vector || left.size() == 1;
    drops_column = info_.right_is_vector || right.size() == 1;
    check_depth();
    const int left_batch = left.size() - (drops_row ? 1 : 2),
              right_batch = right.size() - (drops_column ? 1 : 2);
    if (left_batch > 0 || right_batch > 0)
      batch = broadcast_batch(first_axes(left, left_batch), first_axes(right, right_batch));
  }

  bool drops_row = false, drops_column = false;  ///< an operand is a vector
  Shape batch;                                   ///< the broadcast axes before the product's

  /// The batch axes, then the axes of the product.
  Shape whole() const {
    Shape shape(batch.size() + (drops_row ? 0 : 1) + (drops_column ? 0 : 1));
    int axis = 0;
    for (const std::int64_t extent : batch) shape[axis++] = extent;
    if (!drops_row) shape[axis++] = left_[left_.size() - 2];
    if (!drops_column) shape[axis++] = right_.back();
    return shape;
  }

 private:
  void check_rank(const Shape& shape, int operand, int min_rank) const {
    if (shape.size() < min_rank)
      fail<LayoutError>(
          info_.name, ": expected at least ", min_rank, min_rank == 1 ? " axis" : " axes",
          " in the ", operand == 0 ? "first" : "second", " operand, got ", shape.size(), " (shape ",
          shapes_text(std::span(&shape, 1)), ")", shape.empty() ? "; use * for numbers" : "");
  }
  void check_depth() const {
    const std::int64_t left_depth = left_.back();
    const std::int64_t right_depth = right_[right_.size() - (drops_column ? 1 : 2)];
    if (left_depth != right_depth && left_depth != -1 && right_depth != -1)
      fail<LayoutError>(
          info_.name, ": the shapes ", shapes_text(std::array{left_, right_}), " do not fit: axis ",
          left_.size() - 1, " of the first operand has extent ", left_depth, ", axis ",
          right_.size() - (drops_column ? 1 : 2), " of the second has ", right_depth,
          "; the product is summed over both, so expected equal extents: transpose or "
          "reshape one of the two");
  }
  Shape broadcast_batch(const Shape& left, const Shape& right) const {
    try {
      return broadcast_shapes(std::array{left, right});
    } catch (const LayoutError&) {
      fail<LayoutError>(info_.name, ": operands could not be broadcast together with shapes ",
                        shapes_text(std::array{left_, right_}),
                        "; the axes before those of the product must be equal or 1");
    }
  }

  const ProductInfo& info_;
  const Shape &left_, &right_;
};

// Throws DeviceError unless `array` is on `device` or both are on the host.
void check_device(const char* caller, const Array& array, Device device) {
  if (!work_together(array.device(), device))
    fail<DeviceError>(caller, ": operands are on ", device, " and on ", array.device(),
                      "; expected one device, move one of them with .to(\"", device, "\")");
}

// The dtype in which the product is computed. Throws DTypeError where the options forbid it.
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

  /// `result` with the axes that the product drops inserted again, with extent 1.
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
                        "; pass an out of that shape");
    if (out.readonly())
      fail<ReadOnlyError>(info_.name, ": cannot write to ", out, "; pass a writable out=");
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

Shape product_shape(ProductKind product, const Shape& left, const Shape& right,
                    const Shape* addend) {
  Shape shape = ProductShape(product, left, right).whole();
  if (addend == nullptr || *addend == shape) return shape;
  try {
    return broadcast_shapes(std::array{shape, *addend});
  } catch (const LayoutError& error) {
    fail<LayoutError>(info_of(product).name, ": the product and the addend: ", error.what());
  }
}

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

// ---- contractions over any axes: products of matrices into which the axes are merged

namespace {

// A list of axes without heap allocation, which would take longer than a small contraction.
class AxisList {
 public:
  void add(int axis) noexcept { axes_[size_++] = axis; }
  void add(std::span<const int> axes) noexcept {
    for (const int axis : axes) add(axis);
  }
  operator std::span<const int>() const noexcept { return {axes_.data(), size_}; }
  std::size_t size() const noexcept { return size_; }
  const int* begin() const noexcept { return axes_.data(); }
  const int* end() const noexcept { return axes_.data() + size_; }

 private:
  std::array<int, max_rank> axes_;  // only the first size_ are set
  std::size_t size_ = 0;
};

// The axes in the order `first`, `others`, `last`. Throws LayoutError if an axis is repeated.
AxisList ordered_axes(const Array& array, std::span<const int> first, std::span<const int> others,
                      std::span<const int> last) {
  if (first.size() + others.size() + last.size() != static_cast<std::size_t>(array.rank()))
    fail<LayoutError>("contract: an axis of the array of shape ", array.shape(),
                      " is named more than once");
  AxisList order;
  order.add(first);
  order.add(others);
  order.add(last);
  return order;
}

AxisList other_axes(const Array& array, std::span<const int> a, std::span<const int> b) {
  AxisList others;
  for (int axis = 0; axis < array.rank(); ++axis)
    if (std::find(a.begin(), a.end(), axis) == a.end() &&
        std::find(b.begin(), b.end(), axis) == b.end())
      others.add(axis);
  return others;
}

// The permuted array with the axes from `batch` on merged into two: the first `first` of them into
// the rows, the others into the columns.
Array as_matrix(const Array& array, std::span<const int> order, int batch, int first) {
  // A permutation in ascending order moves no axis.
  Array permuted = std::ranges::is_sorted(order) ? array : array.permute(order);
  if (first == 1 && array.rank() == batch + 2) return permuted;
  Shape shape(batch + 2, 1);
  for (int axis = 0; axis < array.rank(); ++axis)
    shape[axis < batch ? axis : axis < batch + first ? batch : batch + 1] *= permuted.shape()[axis];
  for (int axis = 0; axis < batch; ++axis) shape[axis] = permuted.shape()[axis];
  return reshape(permuted, shape);
}

void check_pairs(const char* caller, const Array& left, const Array& right,
                 const ContractedAxes& axes) {
  for (std::size_t i = 0; i < axes.left_sum.size(); ++i) {
    const std::int64_t a = left.shape()[axes.left_sum[i]], b = right.shape()[axes.right_sum[i]];
    if (a != b)
      fail<LayoutError>(caller, ": shapes ", left.shape(), " and ", right.shape(),
                        " are not aligned: ", a, " (dim ", axes.left_sum[i], ") != ", b, " (dim ",
                        axes.right_sum[i], "); the axes that are summed over must be equal");
  }
}

}  // namespace

Array contract(const char* caller, const Array& left, const Array& right,
               const ContractedAxes& axes) {
  check_device(caller, right, left.device());
  check_pairs(caller, left, right, axes);
  const DType dtype = computed_dtype(caller, left, right, {});
  const AxisList left_kept = other_axes(left, axes.left_batch, axes.left_sum);
  const AxisList right_kept = other_axes(right, axes.right_batch, axes.right_sum);
  const int batch = static_cast<int>(axes.left_batch.size());
  Shape shape(batch + static_cast<int>(left_kept.size() + right_kept.size()));
  int axis = 0;
  for (int i = 0; i < batch; ++i) {
    const auto pair = static_cast<std::size_t>(i);
    const std::int64_t a = left.shape()[axes.left_batch[pair]];
    const std::int64_t b = right.shape()[axes.right_batch[pair]];
    if (a != b && a != 1 && b != 1)
      fail<LayoutError>(caller, ": shapes ", left.shape(), " and ", right.shape(),
                        " do not broadcast: ", a, " and ", b);
    shape[axis++] = a == 1 ? b : a;
  }
  for (const int kept : left_kept) shape[axis++] = left.shape()[kept];
  for (const int kept : right_kept) shape[axis++] = right.shape()[kept];
  const Array left_matrices =
      as_matrix(left, ordered_axes(left, axes.left_batch, left_kept, axes.left_sum), batch,
                static_cast<int>(left_kept.size()));
  const Array right_matrices =
      as_matrix(right, ordered_axes(right, axes.right_batch, axes.right_sum, right_kept), batch,
                static_cast<int>(axes.right_sum.size()));
  Array result = empty(shape, dtype, working_device(left.device()));
  Shape matrices(batch + 2);
  for (int i = 0; i < batch; ++i) matrices[i] = shape[i];
  matrices[batch] = left_matrices.shape()[batch];
  matrices[batch + 1] = right_matrices.shape()[batch + 1];
  run_product(left_matrices, right_matrices,
              matrices == shape ? result : *result.try_reshape(matrices), {});
  return result;
}

}  // namespace spanwise::ops::linalg
