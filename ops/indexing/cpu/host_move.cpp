// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "host_move.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "host_loops.hpp"
#include "host_mask.hpp"
#include "spanwise/parallel.hpp"

namespace spanwise::ops {
namespace {

constexpr std::int64_t offset_chunk = 2048;       // offsets that fit in the L1 cache
constexpr std::int64_t wide_chunk = 8192;         // in the L2 cache, if each is used often
constexpr std::int64_t parallel_bytes = 1 << 20;  // below this, one thread is as fast as two

// The elements that are moved at each position: those along the basic axes. If the last basic axis
// is contiguous in array and value, its elements are moved as one row. Steps in bytes.
class MovedBlock {
 public:
  MovedBlock(const Selection& selection, const Array& value, Direction direction, MoveLoop loop) {
    const std::int64_t item = selection.array.dtype().itemsize();
    row_bytes_ = item;
    for (int i = 0; i < selection.rank; ++i) {
      const BasicAxis& basic = selection.basic[static_cast<std::size_t>(i)];
      const int axis = i < selection.index_axis ? i : i + selection.positions.size();
      add({basic.extent, basic.stride * item, value.strides()[axis] * item});
    }
    if (rank_ > 0 && selection.index_axis < selection.rank) {
      const Axis& last = axes_[static_cast<std::size_t>(rank_ - 1)];
      if (last.array_step == item && last.value_step == item) {
        row_bytes_ = item * last.extent;
        --rank_;
      }
    }
    for (int i = 0; i < rank_; ++i) size_ *= axes_[static_cast<std::size_t>(i)].extent;
    loop_ = loop != nullptr ? loop : move_loop(direction, row_bytes_);
  }

  std::int64_t size() const noexcept { return size_; }
  std::int64_t bytes() const noexcept { return size_ * row_bytes_; }

  // Moves parts [first, last) of the block.
  void move(std::byte* array, const std::int64_t* offsets, std::int64_t count, std::byte* value,
            std::int64_t value_step, std::int64_t first, std::int64_t last) const {
    if (size_ == 1) return loop_(array, offsets, count, value, value_step, row_bytes_);
    for (std::int64_t part = first; part < last; ++part) {
      std::int64_t rest = part, array_at = 0, value_at = 0;
      for (int i = rank_ - 1; i >= 0; --i) {
        const Axis& axis = axes_[static_cast<std::size_t>(i)];
        const std::int64_t index = i == 0 ? rest : rest % axis.extent;
        array_at += index * axis.array_step;
        value_at += index * axis.value_step;
        if (i > 0) rest /= axis.extent;
      }
      loop_(array + array_at, offsets, count, value + value_at, value_step, row_bytes_);
    }
  }

 private:
  struct Axis {
    std::int64_t extent, array_step, value_step;
  };
  void add(const Axis& axis) {
    if (axis.extent == 1) return;
    if (rank_ > 0) {
      Axis& before = axes_[static_cast<std::size_t>(rank_ - 1)];
      if (before.array_step == axis.extent * axis.array_step &&
          before.value_step == axis.extent * axis.value_step) {
        before = {before.extent * axis.extent, axis.array_step, axis.value_step};
        return;
      }
    }
    axes_[static_cast<std::size_t>(rank_++)] = axis;
  }

  std::array<Axis, max_rank> axes_;
  int rank_ = 0;
  std::int64_t size_ = 1, row_bytes_;
  MoveLoop loop_;
};

// The positions of the index arrays, in C order. `numbers_` has for each axis: its extent, the
// position stride and the value's stride (bytes), and the stride of each index array (elements).
class IndexedPositions {
 public:
  IndexedPositions(const Selection& selection, const Array& value)
      : count_(selection.indices.size()), width_(3 + count_), indices_(selection.indices) {
    const std::int64_t item = selection.array.dtype().itemsize();
    item_ = item;
    numbers_.reserve(width_ * static_cast<std::size_t>(selection.positions.size() + 1));
    for (int i = 0; i < selection.positions.size(); ++i) {
      if (selection.positions[i] == 1) continue;
      numbers_.push_back(selection.positions[i]);
      numbers_.push_back(selection.position_strides[i] * item);
      numbers_.push_back(value.strides()[selection.index_axis + i] * item);
      for (const IndexArray& indices : indices_) numbers_.push_back(indices.array.strides()[i]);
      ++rank_;
      merge_last();
    }
    if (rank_ == 0) {
      numbers_.assign(width_, 0);
      numbers_[0] = rank_ = 1;
    }
    for (int i = 0; i < rank_; ++i) size_ *= axis(i)[0];
  }

  std::int64_t size() const noexcept { return size_; }

  // Calls move(offsets, count, value's offset, value's step) for chunks of positions [first, last).
  template <std::int64_t chunk, class Move>
  void run(std::int64_t first, std::int64_t last, Move&& move) const {
    std::int64_t offsets[chunk];
    const int inner = rank_ - 1;
    const std::int64_t* row = axis(inner);
    std::int64_t at[max_rank];
    std::int64_t rest = first;
    for (int i = inner; i >= 0; --i) {
      at[i] = i == 0 ? rest : rest % axis(i)[0];
      if (i > 0) rest /= axis(i)[0];
    }
    for (std::int64_t left = last - first; left > 0;) {
      const std::int64_t n = std::min({left, row[0] - at[inner], chunk});
      fill(offsets, n, at);
      move(offsets, n, offset_of(at, 2), row[2]);
      left -= n;
      at[inner] += n;
      for (int i = inner; i > 0 && at[i] == axis(i)[0]; --i) {
        at[i] = 0;
        ++at[i - 1];
      }
    }
  }

 private:
  const std::int64_t* axis(int i) const noexcept {
    return numbers_.data() + static_cast<std::size_t>(i) * width_;
  }
  // Merges the last axis into the one before it if the strides of all arrays allow it.
  void merge_last() {
    if (rank_ < 2) return;
    std::int64_t* last = numbers_.data() + static_cast<std::size_t>(rank_ - 1) * width_;
    std::int64_t* before = last - width_;
    for (std::size_t k = 1; k < width_; ++k)
      if (before[k] != last[0] * last[k]) return;
    before[0] *= last[0];
    std::copy(last + 1, last + width_, before + 1);
    numbers_.resize(numbers_.size() - width_);
    --rank_;
  }
  std::int64_t offset_of(const std::int64_t* at, std::size_t column) const noexcept {
    std::int64_t offset = 0;
    for (int i = 0; i < rank_; ++i) offset += at[i] * axis(i)[column];
    return offset;
  }

  void fill(std::int64_t* offsets, std::int64_t n, const std::int64_t* at) const {
    const std::int64_t* row = axis(rank_ - 1);
    const std::int64_t base = offset_of(at, 1), position_strides = row[1];
    for (std::int64_t i = 0; i < n; ++i) offsets[i] = base + i * position_strides;
    for (std::size_t k = 0; k < count_; ++k) {
      const auto* values = static_cast<const std::byte*>(indices_[k].array.data()) +
                           offset_of(at, 3 + k) * std::int64_t{sizeof(std::int64_t)};
      const std::int64_t extent = indices_[k].extent, stride = indices_[k].stride * item_;
      add_offsets(offsets, n, values, row[3 + k] * std::int64_t{sizeof(std::int64_t)}, extent,
                  stride);
    }
  }
  std::size_t count_, width_;
  const std::vector<IndexArray>& indices_;
  std::vector<std::int64_t> numbers_;
  std::int64_t item_ = 1, size_ = 1;
  int rank_ = 0;
};

void move_by_indices(const Selection& selection, const Array& value, Direction direction,
                     const MovedBlock& block) {
  const IndexedPositions positions(selection, value);
  std::byte* array = selection.data();
  auto* to = static_cast<std::byte*>(value.data());
  const auto run = [&](std::int64_t first, std::int64_t last, std::int64_t part,
                       std::int64_t last_part) {
    const auto move = [&](const std::int64_t* offsets, std::int64_t n, std::int64_t value_at,
                          std::int64_t value_step) {
      block.move(array, offsets, n, to + value_at, value_step, part, last_part);
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
  if (direction == Direction::read && block.size() < 16) {
    const std::int64_t grain = std::max<std::int64_t>(1, parallel_bytes / 4 / block.bytes());
    return parallel_for(positions.size(), grain, [&](std::int64_t first, std::int64_t last) {
      run(first, last, 0, block.size());
    });
  }
  if (direction == Direction::write && selection.array.layout().may_overlap_itself())
    return run(0, positions.size(), 0, block.size());
  const std::int64_t grain = std::max<std::int64_t>(1, block.size() * (parallel_bytes / 4) / bytes);
  parallel_for(block.size(), grain, [&](std::int64_t first, std::int64_t last) {
    run(0, positions.size(), first, last);
  });
}

void move_by_mask(const Selection& selection, const Array& value, Direction direction,
                  const MovedBlock& block) {
  const MaskWalk walk(*selection.mask, selection.mask_strides, selection.array.dtype().itemsize());
  std::byte* array = selection.data();
  auto* to = static_cast<std::byte*>(value.data());
  const std::int64_t step =
      value.strides()[selection.index_axis] * std::int64_t{selection.array.dtype().itemsize()};
  const auto run = [&](std::int64_t first, std::int64_t last, std::int64_t done) {
    std::int64_t offsets[offset_chunk];
    for_each_segment(walk, first, last,
                     [&](const std::byte* mask, std::int64_t mask_step, std::int64_t n,
                         std::int64_t offset, std::int64_t other_step, const std::int64_t*) {
                       for (std::int64_t i = 0; i < n; i += offset_chunk) {
                         const std::int64_t found = collect_true(
                             mask + i * mask_step, mask_step, std::min(offset_chunk, n - i),
                             offset + i * other_step, other_step, offsets);
                         if (found == 0) continue;
                         block.move(array, offsets, found, to + done * step, step, 0, block.size());
                         done += found;
                       }
                     });
  };
  const bool is_small =
      walk.size < 1 << 16 && selection.positions[0] * block.bytes() < parallel_bytes;
  // Two threads could write one element if the array overlaps itself.
  if (is_small || (direction == Direction::write && selection.array.layout().may_overlap_itself()))
    return run(0, walk.size, 0);
  const MaskPieces pieces(walk);
  parallel_for(pieces.count(), 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      run(i * pieces.length, std::min(walk.size, (i + 1) * pieces.length),
          pieces.before[static_cast<std::size_t>(i)]);
  });
}

}  // namespace

void move_on_host(const Selection& selection, const Array& value, Direction direction,
                  MoveLoop loop) {
  if (value.size() == 0) return;
  const MovedBlock block(selection, value, direction, loop);
  if (selection.mask)
    move_by_mask(selection, value, direction, block);
  else
    move_by_indices(selection, value, direction, block);
}

}  // namespace spanwise::ops
