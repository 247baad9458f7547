// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "product.hpp"
#include "product_shape.hpp"
#include "run_product.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/device.hpp"

// Contractions over any axes: products of matrices into which the axes are merged.
namespace spanwise::ops::linalg {
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
