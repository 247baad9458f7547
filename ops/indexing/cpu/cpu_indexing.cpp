// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "../selection.hpp"
#include "index_loops.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/parallel.hpp"
#include "spanwise/strided/walk.hpp"

// Indexing on the CPU, by the loops of index_loops.cpp. A mask is an array of bool, in which any
// byte but 0 is true.
namespace spanwise::ops {
namespace {

/// The argument of a Walk that keeps C order.
constexpr int no_leader = -1;

/// A mask and an array that it selects from, in C order.
class MaskWalk {
 public:
  /// The array has the mask's shape and these strides; its first element is at `data`.
  MaskWalk(const Array& mask, const Strides& strides, std::byte* data, int itemsize)
      : data_{static_cast<std::byte*>(mask.data()), data},
        itemsizes_{1, itemsize},
        walk_(walk_of(mask, strides)) {}
  /// The mask alone.
  explicit MaskWalk(const Array& mask)
      : MaskWalk(mask, mask.strides(), static_cast<std::byte*>(mask.data()), 1) {}

  std::int64_t size() const noexcept { return walk_.size(); }
  /// Bytes between elements of a run.
  std::int64_t mask_step() const noexcept { return walk_.stride(walk_.rank() - 1, 0); }
  std::int64_t array_step() const noexcept {
    return walk_.stride(walk_.rank() - 1, 1) * itemsizes_[1];
  }
  /// Calls run(mask, array, n) for each run of the elements [first, last).
  template <class F>
  void for_each(std::int64_t first, std::int64_t last, F&& run) const {
    for_each_run(walk_, data_, itemsizes_, first, last,
                 [&](std::byte* const* at, std::int64_t n) { run(at[0], at[1], n); });
  }

 private:
  static Walk walk_of(const Array& mask, const Strides& strides) {
    const Layout array{mask.shape(), strides, 0};
    return Walk(mask.shape(), std::array<const Layout*, 2>{&mask.layout(), &array}, no_leader);
  }

  std::byte* data_[2];
  int itemsizes_[2];
  Walk walk_;
};

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

constexpr std::int64_t piece_length = 1 << 16;  // elements that are worth a thread
constexpr std::int64_t max_pieces = 256;

/// Pieces of a mask for several threads, of equal length except for the last, and the number of
/// true elements before each.
struct MaskPieces {
  std::int64_t length;
  std::vector<std::int64_t> before;  ///< one entry more than pieces; the last is the total

  explicit MaskPieces(const MaskWalk& walk)
      : length(std::max(piece_length, (walk.size() + max_pieces - 1) / max_pieces)),
        before(static_cast<std::size_t>((walk.size() + length - 1) / length) + 1, 0) {
    parallel_for(count(), 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t piece = first; piece < last; ++piece)
        before[static_cast<std::size_t>(piece) + 1] =
            count_true_between(walk, piece * length, std::min(walk.size(), (piece + 1) * length));
    });
    for (std::size_t i = 1; i < before.size(); ++i) before[i] += before[i - 1];
  }
  std::int64_t count() const noexcept { return static_cast<std::int64_t>(before.size()) - 1; }
  std::int64_t total() const noexcept { return before.back(); }
};

constexpr std::int64_t offset_chunk = 2048;  // offsets that fit in the L1 cache
constexpr std::int64_t wide_chunk = 8192;    // that fit in the L2 cache, for offsets used often
constexpr std::int64_t parallel_bytes = 1 << 20;  // below this, one thread is as fast as two

// The elements that are moved at each position: those along the basic axes. If the last basic axis
// is contiguous in array and value, its elements are moved as one row.
class MovedBlock {
 public:
  MovedBlock(const Selection& selection, const Array& value, MoveDirection direction, MoveLoop loop)
      : item_(selection.array.dtype().itemsize()), row_bytes_(item_) {
    if (selection.rank > 0) {
      walk_.emplace(walk_of(selection, value));
      const int last = walk_->rank() - 1;
      step_ = walk_->stride(last, 0) * item_;
      value_step_ = walk_->stride(last, 1) * item_;
      if (selection.index_axis < selection.rank && step_ == item_ && value_step_ == item_)
        row_ = walk_->extent(last);
      row_bytes_ = item_ * row_;
      size_ = walk_->size() / row_;
    }
    loop_ = loop != nullptr ? loop : move_loop(direction, row_bytes_);
  }

  std::int64_t size() const noexcept { return size_; }
  std::int64_t bytes() const noexcept { return size_ * row_bytes_; }

  // Moves parts [first, last) of the block.
  void move(std::byte* array, const std::int64_t* offsets, std::int64_t count, std::byte* value,
            std::int64_t value_step, std::int64_t first, std::int64_t last) const {
    if (size_ == 1) return loop_(array, offsets, count, value, value_step, row_bytes_);
    const std::array data{array, value};
    const std::array itemsizes{item_, item_};
    for_each_run(*walk_, data, itemsizes, first * row_, last * row_,
                 [&](std::byte* const* at, std::int64_t n) {
                   for (std::int64_t i = 0; i < n / row_; ++i)
                     loop_(at[0] + i * step_, offsets, count, at[1] + i * value_step_, value_step,
                           row_bytes_);
                 });
  }

 private:
  static Walk walk_of(const Selection& selection, const Array& value) {
    Layout array{Shape(selection.rank), Strides(selection.rank), 0}, value_layout = array;
    for (int i = 0; i < selection.rank; ++i) {
      const BasicAxis& basic = selection.basic[static_cast<std::size_t>(i)];
      array.shape[i] = value_layout.shape[i] = basic.extent;
      array.strides[i] = basic.stride;
      value_layout.strides[i] =
          value.strides()[i < selection.index_axis ? i : i + selection.positions.size()];
    }
    return Walk(array.shape, std::array<const Layout*, 2>{&array, &value_layout}, no_leader);
  }

  std::optional<Walk> walk_;
  int item_;
  std::int64_t row_ = 1, size_ = 1, row_bytes_;  // row_: elements
  std::int64_t step_ = 0, value_step_ = 0;       // bytes along the last axis
  MoveLoop loop_;
};

// The positions of the index arrays, in C order.
class IndexedPositions {
 public:
  IndexedPositions(const Selection& selection, const Array& value)
      : indices_(selection.indices),
        item_(selection.array.dtype().itemsize()),
        walk_(walk_of(selection, value)) {
    data_[0] = selection.data();
    data_[1] = static_cast<std::byte*>(value.data());
    itemsizes_[0] = itemsizes_[1] = item_;
    for (std::size_t k = 0; k < indices_.size(); ++k) {
      data_[k + 2] = static_cast<std::byte*>(indices_[k].array.data());
      itemsizes_[k + 2] = sizeof(std::int64_t);
    }
  }

  std::int64_t size() const noexcept { return walk_.size(); }

  // Calls move(offsets, count, value, value's step) for chunks of positions [first, last).
  template <std::int64_t chunk, class Move>
  void run(std::int64_t first, std::int64_t last, Move&& move) const {
    std::int64_t offsets[chunk];
    const std::int64_t step = inner_step(0), value_step = inner_step(1);
    const auto run_row = [&](std::byte* const* at, std::int64_t n) {
      for (std::int64_t i = 0; i < n; i += chunk) {
        const std::int64_t count = std::min(chunk, n - i);
        const std::int64_t base = at[0] - data_[0] + i * step;
        for (std::int64_t j = 0; j < count; ++j) offsets[j] = base + j * step;
        for (std::size_t k = 0; k < indices_.size(); ++k) {
          const std::int64_t index_step = inner_step(k + 2);
          add_offsets(offsets, count, at[k + 2] + i * index_step, index_step, indices_[k].extent,
                      indices_[k].stride * item_);
        }
        move(offsets, count, at[1] + i * value_step, value_step);
      }
    };
    const std::size_t operands = indices_.size() + 2;
    for_each_run<max_rank + 2>(walk_, std::span(data_.data(), operands),
                               std::span(itemsizes_.data(), operands), first, last, run_row);
  }

 private:
  static Walk walk_of(const Selection& selection, const Array& value) {
    const int rank = selection.positions.size();
    const Layout array{selection.positions, selection.position_strides, 0};
    Layout value_layout{selection.positions, Strides(rank), 0};
    std::copy_n(value.strides().begin() + selection.index_axis, rank, value_layout.strides.begin());
    std::array<const Layout*, max_rank + 2> layouts{&array, &value_layout};
    std::size_t count = 2;
    for (const IndexArray& index : selection.indices) layouts[count++] = &index.array.layout();
    return Walk(selection.positions, std::span(layouts.data(), count), no_leader);
  }

  std::int64_t inner_step(std::size_t operand) const noexcept {
    return walk_.stride(walk_.rank() - 1, static_cast<int>(operand)) * itemsizes_[operand];
  }

  const std::vector<IndexArray>& indices_;
  int item_;
  // Of the array at position 0, the value and the index arrays.
  std::array<std::byte*, max_rank + 2> data_;
  std::array<int, max_rank + 2> itemsizes_;
  Walk walk_;
};

void move_by_indices(const Selection& selection, const Array& value, MoveDirection direction,
                     const MovedBlock& block) {
  const IndexedPositions positions(selection, value);
  std::byte* array = selection.data();
  const auto run = [&](std::int64_t first, std::int64_t last, std::int64_t part,
                       std::int64_t last_part) {
    const auto move = [&](const std::int64_t* offsets, std::int64_t n, std::byte* values,
                          std::int64_t step) {
      block.move(array, offsets, n, values, step, part, last_part);
    };
    if (block.size() == 1)
      positions.run<offset_chunk>(first, last, move);
    else
      positions.run<wide_chunk>(first, last, move);
  };
  const std::int64_t bytes = positions.size() * block.bytes();
  if (bytes < parallel_bytes) return run(0, positions.size(), 0, block.size());
  // Several positions may select one element, and the last one must win, so writes are split by the
  // parts of a block. These are disjoint unless the array overlaps itself.
  if (direction == MoveDirection::read && block.size() < 16) {
    const std::int64_t grain = std::max<std::int64_t>(1, parallel_bytes / 4 / block.bytes());
    return parallel_for(positions.size(), grain, [&](std::int64_t first, std::int64_t last) {
      run(first, last, 0, block.size());
    });
  }
  if (direction == MoveDirection::write && selection.array.layout().may_overlap_itself())
    return run(0, positions.size(), 0, block.size());
  const std::int64_t grain = std::max<std::int64_t>(1, block.size() * (parallel_bytes / 4) / bytes);
  parallel_for(block.size(), grain, [&](std::int64_t first, std::int64_t last) {
    run(0, positions.size(), first, last);
  });
}

void move_by_mask(const Selection& selection, const Array& value, MoveDirection direction,
                  const MovedBlock& block) {
  const int item = selection.array.dtype().itemsize();
  std::byte* array = selection.data();
  const MaskWalk walk(*selection.mask, selection.mask_strides, array, item);
  const std::int64_t mask_step = walk.mask_step(), array_step = walk.array_step();
  auto* values = static_cast<std::byte*>(value.data());
  const std::int64_t step = value.strides()[selection.index_axis] * std::int64_t{item};
  const auto run = [&](std::int64_t first, std::int64_t last, std::int64_t done) {
    std::int64_t offsets[offset_chunk];
    walk.for_each(first, last, [&](const std::byte* mask, const std::byte* row, std::int64_t n) {
      for (std::int64_t i = 0; i < n; i += offset_chunk) {
        const std::int64_t count =
            collect_true(mask + i * mask_step, mask_step, std::min(offset_chunk, n - i),
                         row - array + i * array_step, array_step, offsets);
        if (count == 0) continue;
        block.move(array, offsets, count, values + done * step, step, 0, block.size());
        done += count;
      }
    });
  };
  const bool is_small =
      walk.size() < 1 << 16 && selection.positions[0] * block.bytes() < parallel_bytes;
  // Two threads could write one element if the array overlaps itself.
  if (is_small ||
      (direction == MoveDirection::write && selection.array.layout().may_overlap_itself()))
    return run(0, walk.size(), 0);
  const MaskPieces pieces(walk);
  parallel_for(pieces.count(), 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      run(i * pieces.length, std::min(walk.size(), (i + 1) * pieces.length),
          pieces.before[static_cast<std::size_t>(i)]);
  });
}

}  // namespace

void move_on_host(const Selection& selection, const Array& value, MoveDirection direction,
                  MoveLoop loop) {
  if (value.size() == 0) return;
  const MovedBlock block(selection, value, direction, loop);
  if (selection.mask)
    move_by_mask(selection, value, direction, block);
  else
    move_by_indices(selection, value, direction, block);
}

namespace {

constexpr std::int64_t index_grain = 1 << 16;  // indices that make a second thread worthwhile

// Waits for queued work that conflicts with a move.
void await_all(const Selection& selection, const Array& value, MoveDirection direction) {
  order_host_use(selection.array, direction == MoveDirection::write);
  order_host_use(value, direction == MoveDirection::read);
  for (const IndexArray& indices : selection.indices) order_host_use(indices.array, false);
}

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
