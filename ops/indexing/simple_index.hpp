// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <variant>

#include "indexing.hpp"
#include "spanwise/storage.hpp"

/// The most common case: one C-contiguous int64 index array on the host, for one axis.
namespace spanwise::ops {

/// Whole slices along `axis` of a C-contiguous array, or elements of a vector with any stride.
struct SimpleIndex {
  const Array& array;
  const Array& indices;
  int axis;
  std::int64_t extent, stride, row_bytes, outer = 1;

  SimpleIndex(const Array& a, const Array& i, int along)
      : array(a), indices(i), axis(along), extent(a.shape()[along]) {
    row_bytes = a.dtype().itemsize();
    for (int k = axis + 1; k < a.rank(); ++k) row_bytes *= a.shape()[k];
    for (int k = 0; k < axis; ++k) outer *= a.shape()[k];
    stride = a.strides()[axis] * a.dtype().itemsize();
  }

  static bool fits(const Array& array, const Array& indices) noexcept {
    const bool is_aligned =
        reinterpret_cast<std::uintptr_t>(indices.data()) % alignof(std::int64_t) == 0;
    return indices.dtype() == int64 && is_aligned && indices.layout().is_row_major() &&
           is_idle_on_host(indices) && is_idle_on_host(array) &&
           (array.rank() == 1 || array.layout().is_row_major());
  }
  static bool is_idle_on_host(const Array& array) noexcept {
    return array.device().is_cpu() && (!array.storage() || array.storage().uses().none());
  }
  Shape result_shape() const {
    Shape shape(array.rank() - 1 + indices.rank());
    std::int64_t* next = std::copy_n(array.shape().begin(), axis, shape.begin());
    next = std::copy(indices.shape().begin(), indices.shape().end(), next);
    std::copy(array.shape().begin() + axis + 1, array.shape().end(), next);
    return shape;
  }
  /// Bytes from one index of the axes before `axis` to the next.
  std::int64_t outer_step() const { return extent * row_bytes; }
};

/// The index array of `key` if `key` is one array for the first axis that SimpleIndex supports,
/// else null.
inline const Array* only_index(std::span<const IndexPart> key, const Array& array) {
  if (key.size() != 1 || array.rank() == 0) return nullptr;
  const Array* indices = std::get_if<Array>(&key[0]);
  return indices != nullptr && SimpleIndex::fits(array, *indices) &&
                 array.rank() - 1 + indices->rank() <= max_rank
             ? indices
             : nullptr;
}

/// Whether the value is one element, or needs neither cast nor broadcast.
inline bool is_simple_value(const SimpleIndex& simple, const Array& value) {
  return value.dtype() == simple.array.dtype() && SimpleIndex::is_idle_on_host(value) &&
         (value.rank() == 0 ||
          (value.layout().is_row_major() && value.shape() == simple.result_shape()));
}

}  // namespace spanwise::ops
