// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "spanwise/core/array.hpp"

namespace spanwise {

/// The bytes of a spanwise::View<T, N> kernel parameter (spanwise/view.cuh): the address of element
/// (0, ..., 0), N extents, N strides in elements. Does not keep the array alive and orders no
/// streams: see order_use() in stream.hpp.
class PackedView {
 public:
  explicit PackedView(const Array& array) noexcept : rank_(array.rank()) {
    words_[0] = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(array.data()));
    std::copy_n(array.shape().begin(), rank_, words_ + 1);
    std::copy_n(array.strides().begin(), rank_, words_ + 1 + rank_);
  }
  std::span<const std::byte> bytes() const noexcept {
    return std::as_bytes(std::span(words_, static_cast<std::size_t>(1 + 2 * rank_)));
  }

 private:
  int rank_;
  std::int64_t words_[1 + 2 * max_rank];
};

inline PackedView pack_view(const Array& array) noexcept { return PackedView(array); }

}  // namespace spanwise
