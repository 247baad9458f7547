// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <variant>

#include "cpu/host_loops.hpp"
#include "indexing.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/storage.hpp"
#include "spanwise/strided/walk.hpp"

/// The most common case: one C-contiguous int64 index array on the host, for one axis.
namespace spanwise::ops {

/// Whole slices along `axis` of a C-contiguous array, or elements of a vector with any stride.
struct SimpleIndex {
  const Array& array;
  const Array& indices;
  int axis;
  std::int64_t extent;             ///< of `axis`
  std::int64_t stride, row_bytes;  ///< bytes: the stride of `axis`, and the size of a slice
  std::int64_t outer = 1;          ///< the product of the extents before `axis`

  SimpleIndex(const Array& a, const Array& i, int along)
      : array(a), indices(i), axis(along), extent(a.shape()[along]) {
    row_bytes = a.dtype().itemsize();
    for (int k = axis + 1; k < a.rank(); ++k) row_bytes *= a.shape()[k];
    for (int k = 0; k < axis; ++k) outer *= a.shape()[k];
    stride = a.strides()[axis] * a.dtype().itemsize();
  }

  static bool fits(const Array& array, const Array& indices) noexcept {
    return indices.dtype() == int64 && is_item_aligned(indices) &&
           indices.layout().is_row_major() && is_idle_on_host(indices) && is_idle_on_host(array) &&
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

/// Whether the value is one element, or needs neither cast nor broadcast, and writing to the array
/// changes neither the value nor the indices.
inline bool is_simple_value(const SimpleIndex& simple, const Array& value) {
  return value.dtype() == simple.array.dtype() && SimpleIndex::is_idle_on_host(value) &&
         (value.rank() == 0 ||
          (value.layout().is_row_major() && value.shape() == simple.result_shape())) &&
         !may_share_memory(simple.array, value) && !may_share_memory(simple.array, simple.indices);
}

/// The second common case: a small mask of the first axes of a C-contiguous array on the host. Each
/// true element selects a row of `row_bytes` bytes; there are `count` of them.
struct MaskedRows {
  const Array& array;
  const Array& mask;
  std::int64_t row_bytes, count;

  MaskedRows(const Array& a, const Array& m) : array(a), mask(m), row_bytes(a.dtype().itemsize()) {
    for (int k = m.rank(); k < a.rank(); ++k) row_bytes *= a.shape()[k];
    count = count_true_bytes(static_cast<const std::byte*>(m.data()), m.size());
  }

  static bool fits(const Array& array, const Array& mask) noexcept {
    constexpr std::int64_t small = 1 << 15;
    return mask.dtype().is_bool() && mask.rank() > 0 && mask.rank() <= array.rank() &&
           mask.size() < small && array.nbytes() < 16 * small &&
           SimpleIndex::is_idle_on_host(array) && SimpleIndex::is_idle_on_host(mask) &&
           array.layout().is_row_major() && mask.layout().is_row_major() &&
           std::equal(mask.shape().begin(), mask.shape().end(), array.shape().begin());
  }
  Shape result_shape() const {
    Shape shape(1 + array.rank() - mask.rank());
    shape[0] = count;
    std::copy(array.shape().begin() + mask.rank(), array.shape().end(), shape.begin() + 1);
    return shape;
  }
  /// `step`: bytes from one row of `value` to the next, 0 for a value that is one element.
  void move(std::byte* value, std::int64_t step, MoveDirection direction) const {
    constexpr std::int64_t chunk = 2048;
    std::int64_t offsets[chunk];
    const auto* bytes = static_cast<const std::byte*>(mask.data());
    const MoveLoop loop = move_loop(direction, row_bytes);
    for (std::int64_t i = 0; i < mask.size(); i += chunk) {
      const std::int64_t rows = collect_true(bytes + i, 1, std::min(chunk, mask.size() - i),
                                             i * row_bytes, row_bytes, offsets);
      loop(static_cast<std::byte*>(array.data()), offsets, rows, value, step, row_bytes);
      value += rows * step;
    }
  }
};

/// array[mask].
inline Array read_rows(const MaskedRows& rows) {
  Array result = empty(rows.result_shape(), rows.array.dtype(), rows.array.device());
  if (result.size() > 0)
    rows.move(static_cast<std::byte*>(result.data()), rows.row_bytes, MoveDirection::read);
  return result;
}

/// array[mask] = value. Returns false, with nothing written, for a value that needs a cast, a
/// broadcast or a copy.
inline bool try_write_rows(const MaskedRows& rows, const Array& value) {
  const bool is_one = value.rank() == 0;
  const bool fits = is_one ? rows.row_bytes == rows.array.dtype().itemsize()
                           : value.layout().is_row_major() && value.shape() == rows.result_shape();
  if (!fits || value.dtype() != rows.array.dtype() || !SimpleIndex::is_idle_on_host(value) ||
      may_share_memory(rows.array, value) || may_share_memory(rows.array, rows.mask))
    return false;
  if (rows.count > 0 && rows.row_bytes > 0)
    rows.move(static_cast<std::byte*>(value.data()), is_one ? 0 : rows.row_bytes,
              MoveDirection::write);
  return true;
}

/// The mask of `key` if `key` is one mask that MaskedRows supports, else null.
inline const Array* only_mask(std::span<const IndexPart> key, const Array& array) {
  if (key.size() != 1) return nullptr;
  const Array* mask = std::get_if<Array>(&key[0]);
  return mask != nullptr && MaskedRows::fits(array, *mask) ? mask : nullptr;
}

}  // namespace spanwise::ops
