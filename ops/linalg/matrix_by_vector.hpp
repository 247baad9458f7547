// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cpu_elements.hpp"
#include "spanwise/runtime/parallel.hpp"

namespace spanwise::ops::linalg {

/// result[i] = alpha * sum over p of matrix[i, p] * vector[p] + beta * addend[i]. Every element of
/// the matrix is read once, so the matrix is not packed. Strides in elements, any sign.
template <class E>
struct MatrixByVector {
  using Element = typename E::Element;
  using Number = typename E::Number;

  const Element* matrix;
  std::int64_t row_stride, column_stride;
  bool conjugates_matrix;
  const Element* vector;
  std::int64_t vector_stride;
  bool conjugates_vector;
  Element* result;
  std::int64_t result_stride;
  std::int64_t rows, depth;
  Scales<E> scales{};
  const Element* addend = nullptr;
  std::int64_t addend_stride = 0;

  /// `grain`: minimum of multiplications per thread.
  void run(std::int64_t grain) const {
    std::vector<Number> packed(static_cast<std::size_t>(depth));
    for (std::int64_t p = 0; p < depth; ++p)
      packed[static_cast<std::size_t>(p)] = E::read(vector[p * vector_stride], conjugates_vector);
    parallel_for(rows, grain / depth + 1, [&](std::int64_t first, std::int64_t last) {
      if (E::stops_early || std::abs(column_stride) <= std::abs(row_stride) || rows == 1)
        add_along_rows(packed.data(), first, last);
      else
        add_whole_columns(packed.data(), first, last);
    });
  }

 private:
  static constexpr std::int64_t parallel_sums = 8;      // independent partial sums of a row
  static constexpr std::int64_t max_column_sums = 256;  // sums that fit in the L1 cache

  void write(std::int64_t i, Number sum) const {
    scales.write(result[i * result_stride], sum,
                 addend == nullptr ? nullptr : addend + i * addend_stride);
  }

  void add_along_rows(const Number* x, std::int64_t first, std::int64_t last) const {
    for (std::int64_t i = first; i < last; ++i) {
      const Element* row = matrix + i * row_stride;
      const Number sum = column_stride == 1 ? dot(row, 1, x) : dot(row, column_stride, x);
      write(i, sum);
    }
  }

  // Inlined twice, so that the compiler vectorizes the call with step 1.
  [[gnu::always_inline]] Number dot(const Element* row, std::int64_t step, const Number* x) const {
    if constexpr (E::stops_early)
      if (step == 1) return any_product(row, x);
    Number sums[parallel_sums] = {};
    std::int64_t p = 0;
    for (; p + parallel_sums <= depth; p += parallel_sums) {
      for (std::int64_t k = 0; k < parallel_sums; ++k)
        E::add_product(sums[k], E::read(row[(p + k) * step], conjugates_matrix), x[p + k]);
      if (E::is_decided(sums)) break;
    }
    const bool is_decided = E::stops_early && p + parallel_sums <= depth;
    for (; p < depth && !is_decided; ++p)
      E::add_product(sums[0], E::read(row[p * step], conjugates_matrix), x[p]);
    for (std::int64_t k = 1; k < parallel_sums; ++k) E::join(sums[0], sums[k]);
    return sums[0];
  }

  // For bool: whether the row is nonzero anywhere that x is 1, eight elements at a time.
  Number any_product(const Element* row, const Number* x) const {
    std::int64_t p = 0;
    for (; p + 8 <= depth; p += 8) {
      std::uint64_t row_bytes, x_bytes;
      std::memcpy(&row_bytes, row + p, sizeof row_bytes);
      std::memcpy(&x_bytes, x + p, sizeof x_bytes);
      if ((row_bytes & (x_bytes * 255)) != 0) return 1;  // 1 becomes 255: any bit of a true byte
    }
    for (; p < depth; ++p)
      if (row[p] != 0 && x[p] != 0) return 1;
    return 0;
  }

  void add_whole_columns(const Number* x, std::int64_t first, std::int64_t last) const {
    Number sums[max_column_sums];
    for (std::int64_t start = first; start < last; start += max_column_sums) {
      const std::int64_t count = std::min(max_column_sums, last - start);
      std::fill_n(sums, count, Number{});
      for (std::int64_t p = 0; p < depth; ++p) {
        const Element* column = matrix + start * row_stride + p * column_stride;
        if (row_stride == 1)
          add_column(sums, column, 1, count, x[p]);
        else
          add_column(sums, column, row_stride, count, x[p]);
      }
      for (std::int64_t i = 0; i < count; ++i) write(start + i, sums[i]);
    }
  }
  [[gnu::always_inline]] void add_column(Number* sums, const Element* column, std::int64_t step,
                                         std::int64_t count, Number factor) const {
    for (std::int64_t i = 0; i < count; ++i)
      E::add_product(sums[i], E::read(column[i * step], conjugates_matrix), factor);
  }
};

}  // namespace spanwise::ops::linalg
