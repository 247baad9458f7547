// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/dense.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

namespace spanwise::runtime {

bool is_dense(const Layout& layout) {
  if (layout.is_row_major()) return true;
  const auto [lowest, highest] = layout.extent();
  return highest - lowest + 1 == layout.size() && !layout.may_overlap_itself();
}

Layout dense_like(const Layout& like) {
  if (like.is_row_major()) return Layout::row_major(like.shape);
  std::array<int, max_rank> order;
  const auto end = order.begin() + like.rank();
  std::iota(order.begin(), end, 0);
  // Stable, so that axes of equal strides keep C order; the last of the order is the fastest.
  std::stable_sort(order.begin(), end, [&](int a, int b) {
    return std::abs(like.strides[a]) > std::abs(like.strides[b]);
  });
  Layout dense = Layout::row_major(like.shape);
  std::int64_t step = 1;
  for (auto axis = end; axis != order.begin();) {
    dense.strides[*--axis] = step;
    step *= std::max<std::int64_t>(like.shape[*axis], 1);
  }
  return dense;
}

bool same_steps(const Layout& a, const Layout& b) noexcept {
  if (a.shape != b.shape) return false;
  for (int axis = 0; axis < a.rank(); ++axis)
    if (a.shape[axis] > 1 && a.strides[axis] != b.strides[axis]) return false;
  return true;
}

void* lowest_address(const Array& array) noexcept {
  return static_cast<std::byte*>(array.storage().data()) +
         array.layout().extent().first * array.dtype().itemsize();
}

}  // namespace spanwise::runtime
