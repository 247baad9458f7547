// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "../backend.hpp"
#include "../indices.hpp"
#include "host_loops.hpp"
#include "host_mask.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/parallel.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise::ops {
namespace {

constexpr std::int64_t index_grain = 1 << 16;  // indices that make a second thread worthwhile

void move_after_waiting(const Selection& selection, const Array& value, MoveDirection direction) {
  await_all(selection, value, direction);
  move_on_host(selection, value, direction);
}

void accumulate_on_host(const Selection& selection, const Array& value, Accumulation how) {
  await_all(selection, value, MoveDirection::write);
  move_on_host(selection, value, MoveDirection::write,
               accumulate_loops(selection.array.dtype(), how).rows);
}

std::optional<std::int64_t> outside_on_host(const Array& indices, std::int64_t extent) {
  order_host_use(indices, /*writes=*/false);
  const auto* values = static_cast<const std::int64_t*>(indices.data());
  std::atomic<bool> outside{false};
  parallel_for(indices.size(), index_grain, [&](std::int64_t first, std::int64_t last) {
    if (!all_inside(values + first, last - first, extent)) outside = true;
  });
  if (!outside) return {};
  return *std::find_if(values, values + indices.size(),
                       [&](std::int64_t value) { return value < -extent || value >= extent; });
}

// Maps indices to [0, extent): modulo the extent, or clipped (negative values become 0, as in
// NumPy).
Array apply_bounds_on_host(const Array& indices, std::int64_t extent, Bounds bounds) {
  order_host_use(indices, /*writes=*/false);
  Array bounded = empty(indices.shape(), int64, cpu);
  const auto* from = static_cast<const std::int64_t*>(indices.data());
  auto* to = static_cast<std::int64_t*>(bounded.data());
  parallel_for(indices.size(), index_grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t remainder = bounds == Bounds::wrap ? from[i] % extent : 0;
      to[i] = bounds == Bounds::clip ? std::clamp<std::int64_t>(from[i], 0, extent - 1)
              : remainder < 0        ? remainder + extent
                                     : remainder;
    }
  });
  return bounded;
}

std::int64_t count_true_on_host(const Array& mask) {
  order_host_use(mask, /*writes=*/false);
  return MaskPieces(MaskWalk(mask)).total();
}

// Of a short contiguous vector, in one thread.
Array positions_in_short_vector(const Array& mask) {
  const auto* bytes = static_cast<const std::byte*>(mask.data());
  const std::int64_t size = mask.size();
  Array positions = empty({1, count_true_bytes(bytes, size)}, int64, working_device(mask.device()));
  auto* next = static_cast<std::int64_t*>(positions.data());
  std::int64_t* const end = next + positions.size();
  for (std::int64_t i = 0; next < end; i += 512) {
    // collect_true() may overwrite `length` values, near the end more than are left.
    std::int64_t buffer[512];
    const std::int64_t length = std::min<std::int64_t>(512, size - i);
    const bool has_space = end - next >= length;
    const std::int64_t count = collect_true(bytes + i, 1, length, i, 1, has_space ? next : buffer);
    if (!has_space) std::copy_n(buffer, count, next);
    next += count;
  }
  return positions;
}

Array positions_in_any_mask(const Array& mask) {
  const MaskPieces pieces{MaskWalk(mask)};
  const std::int64_t total = pieces.total(), size = mask.size();
  Array positions = empty({mask.rank(), total}, int64, working_device(mask.device()));
  if (mask.rank() == 0) return positions;
  auto* rows = static_cast<std::int64_t*>(positions.data());
  const Shape& shape = mask.shape();
  const int inner = mask.rank() - 1;
  const std::int64_t step = mask.strides()[inner];
  parallel_for(pieces.count(), 1, [&](std::int64_t first, std::int64_t last) {
    std::int64_t buffer[2048], position[max_rank];
    std::int64_t done = pieces.before[static_cast<std::size_t>(first)];
    const std::int64_t end = pieces.before[static_cast<std::size_t>(last)];
    std::int64_t index = first * pieces.length, left = std::min(size, last * pieces.length) - index;
    for (int axis = inner; axis >= 0; index /= shape[axis], --axis)
      position[axis] = index % shape[axis];
    while (left > 0) {
      const std::int64_t length =
          std::min<std::int64_t>({2048, left, shape[inner] - position[inner]});
      const auto* bytes = static_cast<const std::byte*>(mask.data());
      for (int axis = 0; axis <= inner; ++axis) bytes += position[axis] * mask.strides()[axis];
      // collect_true() may overwrite `length` values, and other threads write those from `end` on.
      const bool has_space = done + length <= end;
      std::int64_t* last_row = rows + inner * total + done;
      const std::int64_t count =
          collect_true(bytes, step, length, position[inner], 1, has_space ? last_row : buffer);
      if (!has_space) std::copy_n(buffer, count, last_row);
      for (int axis = 0; axis < inner; ++axis)
        std::fill_n(rows + axis * total + done, count, position[axis]);
      done += count;
      left -= length;
      position[inner] += length;
      for (int axis = inner; axis > 0 && position[axis] == shape[axis]; --axis) {
        position[axis] = 0;
        ++position[axis - 1];
      }
    }
  });
  return positions;
}

Array positions_of_true_on_host(const Array& mask) {
  order_host_use(mask, /*writes=*/false);
  const bool is_short = mask.rank() == 1 && mask.size() < 1 << 16 && mask.layout().is_row_major();
  return is_short ? positions_in_short_vector(mask) : positions_in_any_mask(mask);
}

constexpr IndexingBackend host_backend{.takes_masks = true,
                                       .needs_aligned = false,
                                       .move = &move_after_waiting,
                                       .accumulate = &accumulate_on_host,
                                       .find_outside = &outside_on_host,
                                       .apply_bounds = &apply_bounds_on_host,
                                       .count_true = &count_true_on_host,
                                       .positions_of_true = &positions_of_true_on_host,
                                       .search = &search_on_host};
[[maybe_unused]] const auto* const previous_cpu_backend =
    indexing_backends.set(DeviceKind::cpu, &host_backend);

}  // namespace

constinit DeviceTable<IndexingBackend> indexing_backends{"indexing"};

}  // namespace spanwise::ops
