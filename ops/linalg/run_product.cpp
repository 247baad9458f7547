// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "run_product.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "problem.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/linear_algebra.hpp"
#include "spanwise/runtime/stream.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise::ops::linalg {
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
  explicit LibraryCalls(const Problem& problem) : problem_(problem) {
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

  const Problem& problem_;
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
  Problem problem = describe_product(left, right, result, terms);
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
  // A library may still decline.
  const bool is_for_blas = !is_small && (dtype.is_complex() || dtype.is_floating());
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
