// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "problem.hpp"

namespace spanwise::ops::linalg {
namespace {

std::int64_t batch_stride_of(const Array& array, int axis_from_end) {
  const int axis = array.rank() - axis_from_end;
  return axis < 0 || array.shape()[axis] == 1 ? 0 : array.strides()[axis];
}

// Whether the two axes can be merged into one in all three arrays.
bool can_merge(const BatchAxis& outer, const BatchAxis& inner) {
  return outer.left == inner.left * inner.extent && outer.right == inner.right * inner.extent &&
         outer.result == inner.result * inner.extent && outer.addend == inner.addend * inner.extent;
}

Matrix last_axes(const Array& array) {
  const int rank = array.rank();
  return {static_cast<std::byte*>(array.data()), array.strides()[rank - 2],
          array.strides()[rank - 1]};
}

// If all products have the same right factor, the batch becomes additional rows of left and result,
// provided that the strides allow it.
void fold_into_rows(Problem& problem) {
  if (problem.batch_rank != 1) return;
  const BatchAxis& axis = problem.batch[0];
  const bool is_one_row = problem.rows == 1;
  if (axis.right != 0) return;
  if (!is_one_row && (axis.left != problem.left.row_stride * problem.rows ||
                      axis.result != problem.result.row_stride * problem.rows ||
                      axis.addend != problem.addend.row_stride * problem.rows))
    return;
  if (problem.conjugate_left) return;
  if (is_one_row) {
    problem.left.row_stride = axis.left;
    problem.result.row_stride = axis.result;
    problem.addend.row_stride = axis.addend;
  }
  problem.rows *= axis.extent;
  problem.batch_rank = 0;
}

}  // namespace

Problem describe_product(const Array& left, const Array& right, const Array& result,
                         const ProductTerms& terms) {
  Problem problem;
  problem.conjugate_left = terms.conjugates;
  problem.alpha = terms.alpha;
  problem.beta = terms.beta;
  problem.dtype = result.dtype();
  const int rank = result.rank();
  problem.rows = result.shape()[rank - 2];
  problem.columns = result.shape()[rank - 1];
  problem.depth = left.shape()[left.rank() - 1];
  problem.left = last_axes(left);
  problem.right = last_axes(right);
  problem.result = last_axes(result);
  if (terms.addend != nullptr) problem.addend = last_axes(*terms.addend);
  int count = 0;
  for (int axis = 0; axis < rank - 2; ++axis) {
    const std::int64_t extent = result.shape()[axis];
    if (extent == 1) continue;
    const int from_end = rank - axis;
    const BatchAxis next{extent, batch_stride_of(left, from_end), batch_stride_of(right, from_end),
                         result.strides()[axis],
                         terms.addend == nullptr ? 0 : terms.addend->strides()[axis]};
    BatchAxis* last = count > 0 ? &problem.batch[static_cast<std::size_t>(count - 1)] : nullptr;
    if (last != nullptr && can_merge(*last, next)) {
      *last = {last->extent * extent, next.left, next.right, next.result, next.addend};
    } else {
      problem.batch[static_cast<std::size_t>(count++)] = next;
    }
  }
  problem.batch_rank = count;
  fold_into_rows(problem);
  if (problem.batch_rank == 0) problem.batch[0] = {};
  for (int i = 0; i < problem.batch_rank; ++i)
    problem.batches *= problem.batch[static_cast<std::size_t>(i)].extent;
  return problem;
}

namespace {

// Up to `small` multiplications, Spanwise's loops take less time than a call of OpenBLAS.
constexpr ProductBackend on_cpu{
    .has_halves = false,
    .small = 216,
    .gemv = [](const Problem& problem,
               Device) { return gemv_on_cpu(problem, GemvSizes::where_faster); },
    .product =
        [](const Problem& problem, Device) {
          if (!gemv_on_cpu(problem, GemvSizes::all)) own_product_on_cpu(problem);
        }};
constexpr ProductBackend on_cuda{
    .has_halves = true, .small = 0, .gemv = &gemv_on_cuda, .product = &own_product_on_cuda};
[[maybe_unused]] const auto* const previous_cpu_backend =
    product_backends.set(DeviceKind::cpu, &on_cpu);
[[maybe_unused]] const auto* const previous_cuda_backend =
    product_backends.set(DeviceKind::cuda, &on_cuda);

}  // namespace

constinit DeviceTable<ProductBackend> product_backends{"product"};

}  // namespace spanwise::ops::linalg
