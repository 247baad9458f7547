// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "host_mask.hpp"

#include "host_loops.hpp"
#include "spanwise/parallel.hpp"

namespace spanwise::ops {
namespace {

constexpr std::int64_t piece_length = 1 << 16;
constexpr std::int64_t max_pieces = 256;

std::int64_t count_segment(const std::byte* mask, std::int64_t step, std::int64_t n) noexcept {
  if (step == 1) return count_true_bytes(mask, n);
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < n; ++i) found += mask[i * step] != std::byte{0};
  return found;
}

}  // namespace

MaskWalk::MaskWalk(const Array& mask, const Strides& other_strides, std::int64_t other_unit,
                   bool keep_axes)
    : data(static_cast<const std::byte*>(mask.data())), size(mask.size()) {
  for (int i = 0; i < mask.rank(); ++i) {
    const Axis axis{mask.shape()[i], mask.strides()[i], other_strides[i] * other_unit};
    if (!keep_axes && axis.extent == 1) continue;
    if (!keep_axes && rank > 0) {
      Axis& before = axes[static_cast<std::size_t>(rank - 1)];
      if (before.step == axis.extent * axis.step &&
          before.other_step == axis.extent * axis.other_step) {
        before = {before.extent * axis.extent, axis.step, axis.other_step};
        continue;
      }
    }
    axes[static_cast<std::size_t>(rank++)] = axis;
  }
  if (rank == 0) axes[static_cast<std::size_t>(rank++)] = {1, 1, 0};
}

std::int64_t count_true(const MaskWalk& walk, std::int64_t first, std::int64_t last) {
  std::int64_t found = 0;
  for_each_segment(
      walk, first, last,
      [&](const std::byte* mask, std::int64_t step, std::int64_t n, std::int64_t, std::int64_t,
          const std::int64_t*) { found += count_segment(mask, step, n); });
  return found;
}

MaskPieces::MaskPieces(const MaskWalk& walk)
    : length(std::max(piece_length, (walk.size + max_pieces - 1) / max_pieces)),
      before(static_cast<std::size_t>((walk.size + length - 1) / length) + 1, 0) {
  parallel_for(count(), 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t piece = first; piece < last; ++piece)
      before[static_cast<std::size_t>(piece) + 1] =
          count_true(walk, piece * length, std::min(walk.size, (piece + 1) * length));
  });
  for (std::size_t i = 1; i < before.size(); ++i) before[i] += before[i - 1];
}

}  // namespace spanwise::ops
