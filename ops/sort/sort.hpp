// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "spanwise/core/array.hpp"
#include "spanwise/core/export.hpp"

/// Stable sorts by the kernels of radix_sort.cuh.
namespace spanwise::ops {

/// What a sort computes.
struct SortRequest {
  bool is_descending = false, wants_values = true, wants_indices = false;
};
struct Sorted {
  std::optional<Array> values, indices;  ///< those of the request; indices are int64
};

/// Sorts along `axis` into new C-contiguous arrays, on the current stream of the array's device; on
/// the CPU too, where NumPy's sorts are faster. NaNs are last in both orders, zeros of both signs
/// are equal, and equal elements keep their order. Throws DTypeError for dtypes without an order.
SW_API Sorted sort(const Array& array, int axis, const SortRequest& request);

/// What determines the kernels; see radix_sort.cuh.
struct SortShape {
  DType dtype;
  SortRequest request;
  bool by_digits = false;  ///< a pass over memory for each digit; else a block for each row
  bool is_long = false;    ///< positions in a row take 64 bits
  int threads = 32, items = 1;
  int blocks = 1;  ///< of a multiprocessor, at least

  friend bool operator<(const SortShape& a, const SortShape& b) noexcept {
    return a.words() < b.words();
  }

 private:
  std::array<int, 9> words() const noexcept {
    return {static_cast<int>(dtype.code()),
            dtype.bits(),
            request.is_descending,
            request.wants_values,
            request.wants_indices,
            by_digits,
            is_long,
            threads,
            items};
  }
};

/// For rows of `length` elements.
SortShape sort_shape(DType dtype, std::int64_t length, const SortRequest& request);
/// CUDA C with the kernel sort_rows or, by digits, count_digits, start_bins and sort_digit.
std::string sort_source(const SortShape& shape);

}  // namespace spanwise::ops
