// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "product_problem.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "spanwise/core/device.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/linear_algebra.hpp"
#include "spanwise/runtime/stream.hpp"

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
void fold_into_rows(ProductProblem& problem) {
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

// Up to `small` multiplications, Spanwise's loops take less time than a call of OpenBLAS.
constexpr ProductBackend on_cpu{
    .has_halves = false,
    .small = 216,
    .has_sums = true,
    .gemv = [](const ProductProblem& problem,
               Device) { return gemv_on_cpu(problem, GemvSizes::where_faster); },
    .product =
        [](const ProductProblem& problem, Device) {
          if (!gemv_on_cpu(problem, GemvSizes::all)) own_product_on_cpu(problem);
        }};
constexpr ProductBackend on_cuda{.has_halves = true,
                                 .small = 0,
                                 .has_sums = false,
                                 .gemv = &gemv_on_cuda,
                                 .product = &own_product_on_cuda};
[[maybe_unused]] const auto* const previous_cpu_backend =
    product_backends.set(DeviceKind::cpu, &on_cpu);
[[maybe_unused]] const auto* const previous_cuda_backend =
    product_backends.set(DeviceKind::cuda, &on_cuda);

}  // namespace

constinit DeviceTable<ProductBackend> product_backends{"product"};

ProductProblem describe_product(const Array& left, const Array& right, const Array& result,
                                const ProductTerms& terms) {
  ProductProblem problem;
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

// ---- products by a library, or by the back end

namespace {

std::optional<GemmFactor> as_factor(const Matrix& matrix, std::int64_t rows, std::int64_t columns) {
  if ((columns == 1 || matrix.column_stride == 1) && (rows == 1 || matrix.row_stride >= columns))
    return GemmFactor{matrix.data, rows == 1 ? columns : matrix.row_stride, 0, false};
  if ((rows == 1 || matrix.row_stride == 1) && (columns == 1 || matrix.column_stride >= rows))
    return GemmFactor{matrix.data, columns == 1 ? rows : matrix.column_stride, 0, true};
  return {};
}

// A C-contiguous copy; batch axes of stride 0 are copied with extent 1.
Array packed(const Array& array) {
  Array each = array;
  for (int axis = 0; axis < array.rank() - 2; ++axis)
    if (array.strides()[axis] == 0 && array.shape()[axis] > 1)
      each = each.slice(axis, {.start = 0, .stop = 1, .step = 1});
  return copy(each);
}

/// Passes a problem to the library, in one call or several.
class LibraryCalls {
 public:
  explicit LibraryCalls(const ProductProblem& problem) : problem_(problem) {
    call_.dtype = problem.dtype;
    call_.rows = problem.rows;
    call_.columns = problem.columns;
    call_.depth = problem.depth;
    call_.conjugate_left = problem.conjugate_left;
    call_.alpha = problem.alpha;
    call_.beta = problem.beta;
    for (int i = 1; i < problem.batch_rank; ++i)
      if (axis(i).extent > axis(inner_).extent) inner_ = i;
  }

  /// Returns false if a matrix has no axis of stride 1, or if the swapped call would have to
  /// conjugate its right factor.
  bool fits() {
    const auto left = as_factor(problem_.left, problem_.rows, problem_.depth);
    const auto right = as_factor(problem_.right, problem_.depth, problem_.columns);
    const auto result = as_factor(problem_.result, problem_.rows, problem_.columns);
    if (!left || !right || !result) return false;
    call_.left = *left;
    call_.right = *right;
    call_.result = problem_.result.data;
    call_.result_leading = result->leading;
    is_swapped_ = result->is_transposed;
    if (!is_swapped_) return true;
    // The transposed result is the product of the transposed factors in reverse order.
    std::swap(call_.left, call_.right);
    std::swap(call_.rows, call_.columns);
    call_.left.is_transposed = !call_.left.is_transposed;
    call_.right.is_transposed = !call_.right.is_transposed;
    return !call_.conjugate_left;
  }

  bool run(const Stream& stream) {
    if (problem_.batch_rank > 0) take_inner_axis();
    std::int64_t calls = 1;
    for (int i = 0; i < problem_.batch_rank; ++i)
      if (i != inner_) calls *= axis(i).extent;
    if (calls == 1) return library_gemm(stream, call_);
    for (std::int64_t index = 0; index < calls; ++index)
      if (!library_gemm(stream, call_at(index))) return false;
    return true;
  }

 private:
  const BatchAxis& axis(int i) const { return problem_.batch[static_cast<std::size_t>(i)]; }

  void take_inner_axis() {
    const BatchAxis& inner = axis(inner_);
    call_.batch = inner.extent;
    call_.left.batch_stride = is_swapped_ ? inner.right : inner.left;
    call_.right.batch_stride = is_swapped_ ? inner.left : inner.right;
    call_.result_batch_stride = inner.result;
  }

  GemmCall call_at(std::int64_t index) const {
    GemmCall call = call_;
    std::int64_t left = 0, right = 0, result = 0;
    for (int i = problem_.batch_rank - 1; i >= 0; --i) {
      if (i == inner_) continue;
      const BatchAxis& outer = axis(i);
      const std::int64_t position = index % outer.extent;
      index /= outer.extent;
      left += position * outer.left;
      right += position * outer.right;
      result += position * outer.result;
    }
    if (is_swapped_) std::swap(left, right);
    const std::int64_t item = problem_.dtype.itemsize();
    call.left.data = static_cast<const std::byte*>(call_.left.data) + left * item;
    call.right.data = static_cast<const std::byte*>(call_.right.data) + right * item;
    call.result = static_cast<std::byte*>(call_.result) + result * item;
    return call;
  }

  const ProductProblem& problem_;
  GemmCall call_{};
  int inner_ = 0;
  bool is_swapped_ = false;
};

// Copies the addend to the result, to which the library adds. By the contract of ProductTerms, an
// equal address means the same view.
void copy_addend(const Array& result, const ProductTerms& terms) {
  if (terms.addend != nullptr && terms.addend->data() != result.data()) copy(*terms.addend, result);
}

// Returns false if no library supports the product; the result may then hold the addend.
bool run_in_library(Array left, Array right, const Array& result, const ProductTerms& terms,
                    const Stream& stream) {
  ProductProblem problem = describe_product(left, right, result, terms);
  const bool copies_left = !as_factor(problem.left, problem.rows, problem.depth);
  const bool copies_right = !as_factor(problem.right, problem.depth, problem.columns);
  if (copies_left) left = packed(left);
  if (copies_right) right = packed(right);
  if (copies_left || copies_right) problem = describe_product(left, right, result, terms);
  LibraryCalls calls(problem);
  if (calls.fits()) {
    copy_addend(result, terms);
    return calls.run(stream);
  }
  const Array dense = empty(result.shape(), result.dtype(), stream.device());
  order_use(stream, dense, true);
  problem = describe_product(left, right, dense, terms);
  LibraryCalls dense_calls(problem);
  if (!dense_calls.fits()) return false;
  copy_addend(dense, terms);
  if (!dense_calls.run(stream)) return false;
  copy(dense, result);
  return true;
}

void order_uses(const Stream& stream, const Array& left, const Array& right, const Array& result,
                const ProductTerms& terms) {
  const bool is_on_host = stream.device().is_cpu();
  for (const Array* array : {&left, &right, &result, terms.addend}) {
    // Host memory needs ordering only if a GPU uses it, too.
    if (array == nullptr || (is_on_host && (!array->storage() || array->storage().uses().none())))
      continue;
    order_use(stream, *array, array == &result);
  }
}

// Bytes of a matrix above which cuBLAS multiplies it by a vector faster than gemv_on_cuda() on an
// H200: float32 4096 x 4096, transposed, in 22 us instead of 30; 2896 x 2896 in 16 instead of 13.
constexpr std::int64_t large_matrix = 32 << 20;

void run_in_dtype(const Array& left, const Array& right, const Array& result,
                  const ProductTerms& terms) {
  const Device device = working_device(result.device());
  const ProductBackend& backend = product_backends[device];
  const Stream stream = Stream::current(device);
  order_uses(stream, left, right, result, terms);
  const DType dtype = result.dtype();
  const std::int64_t rows = result.shape()[result.rank() - 2], columns = result.shape().back();
  const std::int64_t depth = left.shape().back();
  const bool is_small = rows <= backend.small && columns <= backend.small &&
                        depth <= backend.small && rows * columns * depth <= backend.small;
  const bool is_vector = (rows == 1 || columns == 1) && result.size() == rows * columns;
  const bool is_sums = backend.has_sums && rows == 1 && columns == 1 && result.size() > 1;
  // A library may still decline.
  const bool is_for_blas = !is_small && !is_sums && (dtype.is_complex() || dtype.is_floating());
  const bool is_large = std::max(left.nbytes(), right.nbytes()) > large_matrix;
  const auto run_gemv = [&] {
    return is_vector && !is_small &&
           backend.gemv(describe_product(left, right, result, terms), device);
  };
  if (!(is_for_blas && is_large) && run_gemv()) return;
  if (is_for_blas && run_in_library(left, right, result, terms, stream)) return;
  if (is_for_blas && is_large && run_gemv()) return;
  backend.product(describe_product(left, right, result, terms), device);
}

// With a depth of 0, the product is 0: it is computed with a depth of 1 from factors that are 0, so
// that the addend is handled as for any other product.
void run_without_depth(const Array& left, const Array& right, const Array& result,
                       const ProductTerms& terms) {
  const Array zero = zeros(Shape(), result.dtype(), result.device());
  const auto zeros_of_depth_1 = [&](const Array& factor, int axis) {
    Shape shape = factor.shape();
    shape[shape.size() + axis] = 1;
    return zero.broadcast_to(shape);
  };
  run_product(zeros_of_depth_1(left, -1), zeros_of_depth_1(right, -2), result, terms);
}

}  // namespace

void run_product(const Array& left, const Array& right, const Array& result,
                 const ProductTerms& terms) {
  if (result.size() == 0) return;
  if (left.shape().back() == 0) {
    if (terms.addend != nullptr) return run_without_depth(left, right, result, terms);
    return fill(result, Scalar(false).cast(result.dtype()));
  }
  const DType dtype = result.dtype();
  const bool is_half = dtype == float16 || dtype == bfloat16;
  const bool widens = is_half && !product_backends[result.device()].has_halves;
  const bool has_addend = terms.addend != nullptr;
  if (!widens && left.dtype() == dtype && right.dtype() == dtype &&
      (!has_addend || terms.addend->dtype() == dtype))
    return run_in_dtype(left, right, result, terms);
  const DType computed = widens ? float32 : dtype;
  const Array wide_left = astype(left, computed, CopyMode::if_needed);
  const Array wide_right = astype(right, computed, CopyMode::if_needed);
  ProductTerms wide_terms = terms;
  std::optional<Array> wide_addend;
  if (has_addend)
    wide_terms.addend = &wide_addend.emplace(astype(*terms.addend, computed, CopyMode::if_needed));
  if (!widens) return run_in_dtype(wide_left, wide_right, result, wide_terms);
  const Array wide = empty(result.shape(), computed, cpu);
  run_in_dtype(wide_left, wide_right, wide, wide_terms);
  copy(wide, result);
}

}  // namespace spanwise::ops::linalg
