// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/copy/dense.hpp"

namespace spanwise::runtime {

bool is_dense(const Layout& layout) {
  if (layout.is_row_major()) return true;
  const auto [lowest, highest] = layout.offset_range();
  return highest - lowest + 1 == layout.size() && !layout.may_overlap_itself();
}

bool same_shape_and_strides(const Layout& a, const Layout& b) noexcept {
  if (a.shape != b.shape) return false;
  for (int axis = 0; axis < a.rank(); ++axis)
    if (a.shape[axis] > 1 && a.strides[axis] != b.strides[axis]) return false;
  return true;
}

void* lowest_address(const Array& array) noexcept {
  return static_cast<std::byte*>(array.storage().data()) +
         array.layout().offset_range().first * array.dtype().itemsize();
}

}  // namespace spanwise::runtime
