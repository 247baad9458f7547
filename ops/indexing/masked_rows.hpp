// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <variant>

#include "cpu/host_loops.hpp"
#include "cpu/host_move.hpp"
#include "indexing.hpp"
#include "simple_index.hpp"
#include "spanwise/creation.hpp"

/// A mask over the first axes of a C-contiguous array on the host, too small for several threads.
namespace spanwise::ops {

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
  void move(std::byte* value, std::int64_t step, Direction direction) const {
    constexpr std::int64_t chunk = 2048;
    std::int64_t offsets[chunk];
    const auto* bytes = static_cast<const std::byte*>(mask.data());
    const MoveLoop loop = move_loop(direction, row_bytes);
    for (std::int64_t i = 0; i < mask.size(); i += chunk) {
      const std::int64_t found = collect_true(bytes + i, 1, std::min(chunk, mask.size() - i),
                                              i * row_bytes, row_bytes, offsets);
      loop(static_cast<std::byte*>(array.data()), offsets, found, value, step, row_bytes);
      value += found * step;
    }
  }
};

inline Array read_rows(const MaskedRows& rows) {
  Array result = empty(rows.result_shape(), rows.array.dtype(), rows.array.device());
  if (result.size() > 0)
    rows.move(static_cast<std::byte*>(result.data()), rows.row_bytes, Direction::read);
  return result;
}

inline bool try_write_rows(const MaskedRows& rows, const Array& value) {
  const bool is_one = value.rank() == 0;
  const bool fits = is_one ? rows.row_bytes == rows.array.dtype().itemsize()
                           : value.layout().is_row_major() && value.shape() == rows.result_shape();
  if (!fits || value.dtype() != rows.array.dtype() || !SimpleIndex::is_idle_on_host(value) ||
      may_share_memory(rows.array, value) || may_share_memory(rows.array, rows.mask))
    return false;
  if (rows.count > 0 && rows.row_bytes > 0)
    rows.move(static_cast<std::byte*>(value.data()), is_one ? 0 : rows.row_bytes, Direction::write);
  return true;
}

inline const Array* only_mask(std::span<const IndexPart> key, const Array& array) {
  if (key.size() != 1) return nullptr;
  const Array* mask = std::get_if<Array>(&key[0]);
  return mask != nullptr && MaskedRows::fits(array, *mask) ? mask : nullptr;
}

}  // namespace spanwise::ops
