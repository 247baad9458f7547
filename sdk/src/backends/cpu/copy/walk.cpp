// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/copy/walk.hpp"

#include <algorithm>

#include "backends/cpu/thread_pool.hpp"

namespace spanwise::cpu_backend {
namespace {

constexpr Axis no_axis{1, 0, 0};

// An axis split into pieces of `length`; the first one is shorter by `phase`, so that the others
// begin at cache lines of the target.
struct Pieces {
  Axis axis;
  std::int64_t length, phase = 0;

  std::int64_t count() const { return (axis.extent + phase + length - 1) / length; }
  std::int64_t start(std::int64_t piece) const {
    return std::max<std::int64_t>(0, piece * length - phase);
  }
  std::int64_t size(std::int64_t piece) const {
    return std::min(axis.extent, (piece + 1) * length - phase) - start(piece);
  }
};

class Units {
 public:
  Units(const CopyPlan& plan, const Walk& walk, const BlockWork& work)
      : plan_(plan), work_(work), stream_(walk.stream) {
    rows_ = {axis_at(walk.rows), walk.block_rows};
    layers_ = {axis_at(walk.layers), walk.block_layers};
    columns_ = {axis_at(plan.rank - 1), walk.block_columns};
    if (stream_) columns_.phase = phase(columns_.axis.target_step);
    for (int i = 0; i + 1 < plan.rank; ++i)
      if (i != walk.rows && i != walk.layers) outer_[outer_rank_++] = axis_at(i);
    count_ = columns_.count() * rows_.count() * layers_.count();
    for (int i = 0; i < outer_rank_; ++i) count_ *= outer_[i].extent;
  }

  std::int64_t count() const noexcept { return count_; }

  void run(std::int64_t first, std::int64_t last) const {
    for (std::int64_t unit = first; unit < last; ++unit) run_one(unit);
  }

 private:
  Axis axis_at(int axis) const {
    return axis < 0 ? no_axis : plan_.axes[static_cast<std::size_t>(axis)];
  }

  // The number of words from the begin of a cache line to the target's first word, if it is the
  // same for all rows, else 0.
  std::int64_t phase(std::int64_t step) const {
    constexpr std::int64_t line_bytes = 64;
    const auto past =
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(plan_.target) % line_bytes);
    if (step <= 0 || past % step != 0 || columns_.length * step <= line_bytes) return 0;
    for (int i = 0; i + 1 < plan_.rank; ++i)
      if (plan_.axes[static_cast<std::size_t>(i)].target_step % line_bytes != 0) return 0;
    return past / step;
  }

  void run_one(std::int64_t unit) const {
    const auto next = [&](std::int64_t extent) {
      const std::int64_t index = unit % extent;
      unit /= extent;
      return index;
    };
    const std::int64_t column = columns_.count() == 1 ? 0 : next(columns_.count());
    const std::int64_t row = rows_.count() == 1 ? 0 : next(rows_.count());
    const std::int64_t layer = layers_.count() == 1 ? 0 : next(layers_.count());
    std::int64_t target = 0, source = 0;
    const auto advance = [&](const Axis& axis, std::int64_t index) {
      target += index * axis.target_step;
      source += index * axis.source_step;
    };
    advance(columns_.axis, columns_.start(column));
    advance(rows_.axis, rows_.start(row));
    advance(layers_.axis, layers_.start(layer));
    for (int i = outer_rank_ - 1; i >= 0 && unit != 0; --i)
      advance(outer_[i], next(outer_[i].extent));
    Block block{plan_.target + target,  plan_.source + source,     rows_.size(row),
                columns_.size(column),  rows_.axis.target_step,    columns_.axis.target_step,
                rows_.axis.source_step, columns_.axis.source_step, stream_};
    for (std::int64_t i = layers_.size(layer); i > 0; --i) {
      work_.run(block);
      block.target += layers_.axis.target_step;
      block.source += layers_.axis.source_step;
    }
  }

  const CopyPlan& plan_;
  const BlockWork& work_;
  Pieces columns_, rows_, layers_;
  Axis outer_[max_rank + 1];  // the first outer_rank_ are set
  int outer_rank_ = 0;
  bool stream_;
  std::int64_t count_ = 0;
};

// units * index / chunks without overflow.
std::int64_t chunk_begin(std::int64_t units, std::int64_t chunks, std::int64_t index) {
  return units / chunks * index + units % chunks * index / chunks;
}

}  // namespace

void BlockWork::run(const Block& block) const {
  if (then == nullptr) return first(block);
  alignas(64) std::byte buffer[buffer_capacity];
  Block in = block, out = block;
  in.target = buffer;
  in.target_step = out.source_step = buffer_word_bytes;
  in.target_row_step = out.source_row_step = buffer_word_bytes * block.columns;
  in.stream = false;
  out.source = buffer;
  first(in);
  then(out);
}

void Walk::run(const CopyPlan& plan, const BlockWork& work) const {
  const Units units(plan, *this, work);
  const std::int64_t count = units.count();
  if (count == 1) return units.run(0, 1);
  ThreadPool& pool = ThreadPool::instance();
  const int workers = plan.size() * item_bytes < serial_bytes ? 1 : pool.workers();
  if (workers == 1) return units.run(0, count);
  const std::int64_t chunks = std::min<std::int64_t>(count, 8 * workers);
  const auto one = [&](std::uint64_t chunk) {
    const auto index = static_cast<std::int64_t>(chunk);
    units.run(chunk_begin(count, chunks, index), chunk_begin(count, chunks, index + 1));
  };
  pool.run(static_cast<std::uint64_t>(chunks), Helpers::at_once, one);
}

}  // namespace spanwise::cpu_backend
