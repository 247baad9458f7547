// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "host_mask.hpp"

#include <algorithm>
#include <array>

#include "host_loops.hpp"
#include "spanwise/runtime/parallel.hpp"

namespace spanwise::ops {
namespace {

constexpr std::int64_t piece_length = 1 << 16;  // elements that are worth a thread
constexpr std::int64_t max_pieces = 256;

Walk walk_of(const Array& mask, const Strides& strides) {
  const Layout array{mask.shape(), strides, 0};
  return Walk(mask.shape(), std::array<const Layout*, 2>{&mask.layout(), &array}, no_leader);
}

std::int64_t count_true_between(const MaskWalk& walk, std::int64_t first, std::int64_t last) {
  std::int64_t total = 0;
  const std::int64_t step = walk.mask_step();
  walk.for_each(first, last, [&](const std::byte* mask, const std::byte*, std::int64_t n) {
    if (step == 1)
      total += count_true_bytes(mask, n);
    else
      for (std::int64_t i = 0; i < n; ++i) total += mask[i * step] != std::byte{0};
  });
  return total;
}

}  // namespace

MaskWalk::MaskWalk(const Array& mask, const Strides& strides, std::byte* data, int itemsize)
    : data_{static_cast<std::byte*>(mask.data()), data},
      itemsizes_{1, itemsize},
      walk_(walk_of(mask, strides)) {}

MaskPieces::MaskPieces(const MaskWalk& walk)
    : length(std::max(piece_length, (walk.size() + max_pieces - 1) / max_pieces)),
      before(static_cast<std::size_t>((walk.size() + length - 1) / length) + 1, 0) {
  parallel_for(count(), 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t piece = first; piece < last; ++piece)
      before[static_cast<std::size_t>(piece) + 1] =
          count_true_between(walk, piece * length, std::min(walk.size(), (piece + 1) * length));
  });
  for (std::size_t i = 1; i < before.size(); ++i) before[i] += before[i - 1];
}

}  // namespace spanwise::ops
