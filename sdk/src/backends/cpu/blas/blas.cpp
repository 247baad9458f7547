// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/blas/blas.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "backends/cpu/blas/library.hpp"
#include "backends/cpu/blas/parts.hpp"
#include "spanwise/runtime/parallel.hpp"

namespace spanwise::cpu_backend {
namespace {

using namespace blas;

// Multiply-adds of a product up to which OpenBLAS uses only the calling thread (its
// interface/gemm.c: SMP_THRESHOLD_MIN * GEMM_MULTITHREAD_THRESHOLD), so that several matrices can
// be multiplied in parallel.
constexpr double max_one_thread_work = 65536.0 * 4;
// Elements per piece of a dot product. The pieces have a fixed size, so that the sum does not
// depend on the number of threads.
constexpr std::int64_t dot_piece = 1 << 14;
// Length up to which the library's own threads multiply vectors: such vectors stay in the caches,
// and the library's threads still spin after a product of NumPy.
constexpr std::int64_t max_cached_length = 1 << 19;
// Minimum order of the product of a matrix and its own transpose for which computing one triangle
// and copying it is faster than computing both.
constexpr std::int64_t min_symmetric_rows = 32;

template <class T>
ScalarArgument<T> scalar_argument(const T& value) {
  if constexpr (std::is_floating_point_v<T>)
    return value;
  else
    return &value;
}

/// Computes the products of a call one after the other.
template <class T, class I>
class GemmCalls {
 public:
  /// `threads`: Spanwise's threads that share a product; 0 leaves each product to the library's own
  /// threads.
  GemmCalls(const Functions<T, I>& functions, const GemmCall& call, int threads)
      : functions_(functions),
        call_(call),
        alpha_(static_cast<Real>(call.alpha)),
        beta_(static_cast<Real>(call.beta)),
        threads_(threads) {}

  void run(std::int64_t first, std::int64_t last) const {
    for (std::int64_t i = first; i < last; ++i) multiply(i);
  }

  // Computes one result after the other, each split among all threads into about `max_parts` parts.
  void run_in_parts(std::int64_t max_parts) const {
    for (std::int64_t i = 0; i < call_.batch; ++i) {
      if (call_.rows == 1 && call_.columns == 1) {
        multiply_vectors(i);
        continue;
      }
      GemmCall product = call_;
      product.left.data = left(i);
      product.right.data = right(i);
      product.result = result(i);
      multiply_parts(product, is_own_transpose(i), max_parts);
    }
  }

 private:
  using Data = typename Functions<T, I>::Data;
  using Real = decltype(std::real(T()));

  static I to_integer(std::int64_t number) { return static_cast<I>(number); }
  const T* left(std::int64_t i) const {
    return static_cast<const T*>(call_.left.data) + i * call_.left.batch_stride;
  }
  const T* right(std::int64_t i) const {
    return static_cast<const T*>(call_.right.data) + i * call_.right.batch_stride;
  }
  T* result(std::int64_t i) const {
    return static_cast<T*>(call_.result) + i * call_.result_batch_stride;
  }
  // Element stride of a single row of `left`, and of a single column of `right`.
  I row_step() const { return to_integer(call_.left.is_transposed ? call_.left.leading : 1); }
  I column_step() const { return to_integer(call_.right.is_transposed ? 1 : call_.right.leading); }

  void multiply_parts(const GemmCall& product, bool is_symmetric, std::int64_t max_parts) const {
    const std::vector<ProductPart> parts =
        is_symmetric ? upper_parts_of(product, max_parts) : parts_of(product, max_parts);
    if (parts.size() == 1) return GemmCalls(functions_, product, threads_).run(0, 1);
    parallel_for(static_cast<std::int64_t>(parts.size()), 1,
                 [&](std::int64_t first, std::int64_t last) {
                   for (std::int64_t n = first; n < last; ++n) {
                     const ProductPart& part = parts[static_cast<std::size_t>(n)];
                     GemmCalls(functions_, part_of(product, part), threads_).run(0, 1);
                     if (is_symmetric && part.row != part.column)
                       mirror(static_cast<T*>(product.result), product.result_leading, part);
                   }
                 });
  }

  // Copies the elements of a part that are above the diagonal, transposed, to below the diagonal.
  static void mirror(T* data, std::int64_t leading, const ProductPart& part) {
    constexpr std::int64_t tile = 32;  // the tiles that are read and written stay in L1
    const std::int64_t end = part.column + part.columns;
    for (std::int64_t first = part.column; first < end; first += tile)
      for (std::int64_t row = part.row; row < part.row + part.rows; ++row)
        for (std::int64_t column = std::max(first, row + 1); column < std::min(first + tile, end);
             ++column)
          data[column * leading + row] = data[row * leading + column];
  }

  void multiply(std::int64_t i) const {
    const bool is_row = call_.rows == 1, is_column = call_.columns == 1;
    if (is_row && is_column) return multiply_vectors(i);
    if (is_column) return multiply_by_column(i);
    if (is_row && !(call_.conjugate_left && !std::is_floating_point_v<T>))
      return multiply_by_row(i);
    if (is_own_transpose(i)) return multiply_by_own_transpose(i);
    multiply_matrices(i);
  }

  void multiply_vectors(std::int64_t i) const {
    const std::int64_t pieces = threads_ == 0 ? 1 : (call_.depth + dot_piece - 1) / dot_piece;
    if (pieces == 1) {
      set_result(i, dot(left(i), right(i), call_.depth));
      return;
    }
    std::vector<T> sums(static_cast<std::size_t>(pieces));
    parallel_for(pieces, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t n = first; n < last; ++n) {
        const std::int64_t from = n * dot_piece;
        sums[static_cast<std::size_t>(n)] =
            dot(left(i) + from * row_step(), right(i) + from * column_step(),
                std::min(dot_piece, call_.depth - from));
      }
    });
    T sum(0);
    for (const T& piece : sums) sum += piece;
    set_result(i, sum);
  }
  void set_result(std::int64_t i, T product) const {
    T& element = *result(i);
    if (call_.alpha != 1) product *= alpha_;
    element = call_.beta == 0 ? product : product + beta_ * element;
  }
  T dot(const T* x, const T* y, std::int64_t count) const {
    const auto function = call_.conjugate_left ? functions_.conjugated_dot : functions_.dot;
    if constexpr (std::is_floating_point_v<T>) {
      return function(to_integer(count), x, row_step(), y, column_step());
    } else {
      T sum;
      function(to_integer(count), x, row_step(), y, column_step(), &sum);
      return sum;
    }
  }
  void multiply_by_column(std::int64_t i) const {
    functions_.gemv(call_.left.is_transposed ? column_major : row_major, no_transpose,
                    to_integer(call_.rows), to_integer(call_.depth), scalar_argument(alpha_),
                    left(i), to_integer(call_.left.leading), right(i), column_step(),
                    scalar_argument(beta_), result(i), to_integer(call_.result_leading));
  }
  void multiply_by_row(std::int64_t i) const {
    functions_.gemv(call_.right.is_transposed ? column_major : row_major, transpose,
                    to_integer(call_.depth), to_integer(call_.columns), scalar_argument(alpha_),
                    right(i), to_integer(call_.right.leading), left(i), row_step(),
                    scalar_argument(beta_), result(i), 1);
  }

  bool is_own_transpose(std::int64_t i) const {
    return call_.beta == 0 && left(i) == right(i) && call_.rows == call_.columns &&
           call_.rows >= min_symmetric_rows &&
           call_.left.is_transposed != call_.right.is_transposed &&
           call_.left.leading == call_.right.leading;
  }
  // Computes the upper triangle and copies it to the lower one.
  void multiply_by_own_transpose(std::int64_t i) const {
    const std::int64_t n = call_.rows, step = call_.result_leading;
    functions_.syrk(row_major, upper, call_.left.is_transposed ? transpose : no_transpose,
                    to_integer(n), to_integer(call_.depth), scalar_argument(alpha_), left(i),
                    to_integer(call_.left.leading), scalar_argument(beta_), result(i),
                    to_integer(step));
    mirror(result(i), step, {0, n, 0, n});
  }

  void multiply_matrices(std::int64_t i) const {
    // A single row of any stride is the transpose of a column, so it can be passed as
    // conjugate_transpose.
    const bool is_conjugated = call_.conjugate_left && call_.rows == 1;
    const int left_operation = is_conjugated              ? conjugate_transpose
                               : call_.left.is_transposed ? transpose
                                                          : no_transpose;
    const I left_leading = is_conjugated ? row_step() : to_integer(call_.left.leading);
    functions_.gemm(row_major, left_operation, call_.right.is_transposed ? transpose : no_transpose,
                    to_integer(call_.rows), to_integer(call_.columns), to_integer(call_.depth),
                    scalar_argument(alpha_), left(i), left_leading, right(i),
                    to_integer(call_.right.leading), scalar_argument(beta_), result(i),
                    to_integer(call_.result_leading));
  }

  const Functions<T, I>& functions_;
  const GemmCall& call_;
  T alpha_, beta_;
  int threads_;
};

template <class T, class I>
void run_all(const Functions<T, I>& functions, const GemmCall& call, int threads) {
  const GemmCalls<T, I> products(functions, call, threads);
  const double work = static_cast<double>(call.rows) * static_cast<double>(call.columns) *
                      static_cast<double>(call.depth);
  // Two parts per thread, so that an interrupted thread delays the result less.
  if (threads > 1 && (call.batch < threads || call.depth > dot_piece) && work >= min_part_work)
    return products.run_in_parts(2 * threads);
  if (call.batch == 1 || (threads == 0 && work > max_one_thread_work))
    return products.run(0, call.batch);
  const auto grain = static_cast<std::int64_t>(max_one_thread_work / 4 / work) + 1;
  parallel_for(call.batch, grain,
               [&](std::int64_t first, std::int64_t last) { products.run(first, last); });
}

template <class I>
bool fits(const GemmCall& call) {
  const std::int64_t max_value = std::numeric_limits<I>::max();
  for (const std::int64_t number : {call.rows, call.columns, call.depth, call.left.leading,
                                    call.right.leading, call.result_leading})
    if (number > max_value) return false;
  return true;
}

template <class I>
bool run_with(const Tables<I>& tables, const GemmCall& call, int threads) {
  if (!fits<I>(call)) return false;
  if (call.dtype == float32)
    run_all(tables.f32, call, threads);
  else if (call.dtype == float64)
    run_all(tables.f64, call, threads);
  else if (call.dtype == complex64)
    run_all(tables.c64, call, threads);
  else if (call.dtype == complex128)
    run_all(tables.c128, call, threads);
  else
    return false;
  return true;
}

// The number of Spanwise's threads that may call the library at a time: config "cpu_threads", but
// not more than the library was started with. 0 if the library's number of threads cannot be set.
int calling_threads(const BlasLibrary& library) {
  return library.can_set_threads() ? std::min(parallel_workers(), library.threads) : 0;
}

// Whether the library's own threads compute the product: a single product, if these threads are not
// more than config "cpu_threads" allows. After a product of NumPy, which may use the same library,
// they spin for some milliseconds and would compete with Spanwise's threads for the processors. Not
// for long vectors, whose sum in fixed pieces is more accurate and does not depend on the number of
// threads, and not for complex vectors, for which OpenBLAS uses one thread.
bool uses_library_threads(const BlasLibrary& library, const GemmCall& call) {
  const bool is_of_vectors = call.rows == 1 && call.columns == 1;
  const bool keeps_threads = call.depth <= max_cached_length && !call.dtype.is_complex();
  return library.can_set_threads() && call.batch == 1 && (!is_of_vectors || keeps_threads) &&
         library.get_threads() <= parallel_workers();
}

bool run_with(const BlasLibrary& library, const GemmCall& call, int threads) {
  return library.has_wide_integers ? run_with(library.wide, call, threads)
                                   : run_with(library.narrow, call, threads);
}

}  // namespace

bool blas_gemm(const GemmCall& call) {
  const BlasLibrary* loaded = library();
  if (loaded == nullptr) return false;
  const BlasCallGuard running;
  if (uses_library_threads(*loaded, call)) return run_with(*loaded, call, 0);
  const SingleThreadGuard one_thread(*loaded);
  return run_with(*loaded, call, calling_threads(*loaded));
}

}  // namespace spanwise::cpu_backend
