// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "../reduce.hpp"
#include "../reduce_job.hpp"
#include "reduce_loops.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/parallel.hpp"

namespace spanwise::ops::reduce {
namespace {

/// Computes the elements of a job, at most max_elements_ at a time, and passes them to its loops.
class CpuElements {
 public:
  /// Where a block begins: an index over the outer kept axes, one along the last of them, and the
  /// same for the reduced axes.
  struct BlockStart {
    std::int64_t outer_kept, column, outer_reduced, row;
  };

  /// `axes` must outlive the object.
  CpuElements(const ReduceJob& job, const JobAxes& axes, const ReduceLoops& loops)
      : source_(job.computed->source),
        element_(job.types.element),
        device_(job.result->device()),
        axes_(axes),
        loops_(loops),
        buffer_elements_(std::min(axes.outputs * axes.elements, max_elements_)) {}

  /// Memory for a thread's elements.
  Array buffer() const { return empty(Shape{buffer_elements_}, element_, device_); }
  /// ReduceLoops::add() of the elements of `block`, whose data and steps are not used.
  void add(const ElementBlock& block, const BlockStart& start, const Array& buffer,
           std::byte* accumulators) const {
    // The axis along which the operands' elements are adjacent is divided last.
    std::int64_t columns = std::min(block.columns, max_elements_);
    std::int64_t rows = std::min(block.rows, max_elements_);
    (axes_.is_column ? rows : columns) =
        std::clamp<std::int64_t>(max_elements_ / (axes_.is_column ? columns : rows), 1,
                                 axes_.is_column ? block.rows : block.columns);
    for (std::int64_t column = 0; column < block.columns; column += columns)
      for (std::int64_t row = 0; row < block.rows; row += rows) {
        ElementBlock part;
        part.columns = std::min(columns, block.columns - column);
        part.rows = std::min(rows, block.rows - row);
        part.column_step = axes_.is_column ? 1 : part.rows;
        part.row_step = axes_.is_column ? part.columns : 1;
        part.index = block.index + row * block.index_step;
        part.index_step = block.index_step;
        part.data = static_cast<const std::byte*>(buffer.data());
        compute(offsets_at({start.outer_kept, start.column + column, start.outer_reduced,
                            start.row + row}),
                part.columns, part.rows, buffer);
        loops_.add(part, accumulators + column * loops_.accumulator_bytes);
      }
  }

 private:
  using Offsets = std::array<std::int64_t, ElementSource::max_operands>;

  Offsets offsets_at(const BlockStart& start) const {
    Offsets offsets{};
    const auto move = [&](const OperandStrides& strides, std::int64_t steps) {
      for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] += strides[k] * steps;
    };
    for_each_outer(axes_.kept, start.outer_kept,
                   [&](std::size_t i, std::int64_t steps) { move(axes_.kept_strides[i], steps); });
    for_each_outer(axes_.reduced, start.outer_reduced, [&](std::size_t i, std::int64_t steps) {
      move(axes_.reduced_strides[i], steps);
    });
    move(axes_.kept_strides.back(), start.column);
    move(axes_.reduced_strides.back(), start.row);
    return offsets;
  }
  void compute(const Offsets& offsets, std::int64_t columns, std::int64_t rows,
               const Array& buffer) const {
    const auto operands = source_.operands();
    std::vector<Array> parts;
    parts.reserve(operands.size());
    std::array<const Array*, ElementSource::max_operands> all;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      all[k] = operands[k];
      if (operands[k]->rank() > 0)
        all[k] = &parts.emplace_back(part_of(*operands[k], k, offsets[k], columns, rows));
    }
    const Shape dense = columns == 1      ? Shape{rows}
                        : rows == 1       ? Shape{columns}
                        : axes_.is_column ? Shape{rows, columns}
                                          : Shape{columns, rows};
    Layout layout = Layout::row_major(dense);
    layout.offset = buffer.layout().offset;
    source_.compute(std::span(all.data(), operands.size()), buffer.with_layout(std::move(layout)));
  }
  Array part_of(const Array& operand, std::size_t k, std::int64_t offset, std::int64_t columns,
                std::int64_t rows) const {
    const std::int64_t column_step = axes_.kept_strides.back()[k],
                       row_step = axes_.reduced_strides.back()[k];
    Layout part;
    part.offset = operand.layout().offset + offset;
    const auto add = [&](std::int64_t extent, std::int64_t step) {
      part.shape = part.shape.inserted(part.shape.size(), extent);
      part.strides = part.strides.inserted(part.strides.size(), step);
    };
    if (axes_.is_column && rows > 1) add(rows, row_step);
    if (columns > 1) add(columns, column_step);
    if (!axes_.is_column && rows > 1) add(rows, row_step);
    if (part.shape.empty()) add(1, 1);
    return Array(Array::Inside{}, Storage(operand.storage()), std::move(part), operand.dtype());
  }

  static constexpr std::int64_t max_elements_ = 1 << 15;  ///< that stay in the L2 cache

  const ElementSource& source_;
  DType element_;
  Device device_;
  const JobAxes& axes_;
  const ReduceLoops& loops_;
  std::int64_t buffer_elements_;
};

/// The work is split by the shape alone, never by the number of threads, so results do not depend
/// on it.
constexpr std::int64_t max_columns = 2048;        // outputs of a task
constexpr std::int64_t piece_elements = 1 << 15;  // elements of a task, if there are enough tasks
constexpr std::int64_t enough_tasks = 32;         // for the threads of a large processor
/// Rows of a task that has one output: their sums are added one after the other, and rounding
/// errors grow with their number.
constexpr std::int64_t max_rows = 256;
/// Elements that make a second thread worthwhile.
constexpr std::int64_t grain_elements = 1 << 15;

class CpuReduction {
 public:
  explicit CpuReduction(const ReduceJob& job)
      : job_(job), axes_(job), loops_(find_loops(job.types)) {
    if (job.computed == nullptr) take_long_rows();
    columns_ = axes_.kept.back();
    rows_ = axes_.reduced.back();
    outer_kept_ = axes_.outputs / std::max<std::int64_t>(columns_.extent, 1);
    split();
    if (job.computed != nullptr) computed_.emplace(job, axes_, loops_);
  }

  // Computed elements of tiny blocks cost less when they are written to memory all at once.
  bool has_tiny_blocks() const {
    constexpr std::int64_t enough_elements = 256;
    const std::int64_t block = rows_.extent * std::min(tile_, columns_.extent);
    return block < enough_elements && block < axes_.outputs * axes_.elements;
  }

  std::int64_t outputs() const noexcept { return axes_.outputs; }
  std::int64_t tile() const noexcept { return tile_; }
  // Whether each output is reduced by one task.
  bool is_whole() const noexcept { return pieces_ == 1; }

  void run() {
    const std::int64_t tasks = outer_kept_ * tiles_ * pieces_;
    const std::int64_t task_elements = std::max<std::int64_t>(1, tile_ * piece_);
    const std::int64_t grain = std::max<std::int64_t>(1, grain_elements / task_elements);
    if (pieces_ == 1) {
      parallel_for(tasks, grain, [this](std::int64_t first, std::int64_t last) {
        alignas(64) std::byte accumulators[max_columns * max_accumulator_bytes];
        const std::optional<Array> buffer = buffer_of_computed();
        for (std::int64_t task = first; task < last; ++task) {
          add_piece(task, 0, accumulators, buffer);
          finish(task, accumulators);
        }
      });
      return;
    }
    const std::int64_t part_bytes = tile_ * loops_.accumulator_bytes;
    // Allocated as doubles, which have the largest alignment of all accumulators.
    const auto parts = std::make_unique_for_overwrite<double[]>(
        static_cast<std::size_t>(tasks * ((part_bytes + 7) / 8)));
    const auto part = [&](std::int64_t task) {
      return parts.get() + task * ((part_bytes + 7) / 8);
    };
    parallel_for(tasks, grain, [&](std::int64_t first, std::int64_t last) {
      const std::optional<Array> buffer = buffer_of_computed();
      for (std::int64_t task = first; task < last; ++task)
        add_piece(task / pieces_, task % pieces_, part(task), buffer);
    });
    const std::int64_t fold_grain = std::max<std::int64_t>(1, 4096 / (tile_ * pieces_));
    parallel_for(outer_kept_ * tiles_, fold_grain, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t task = first; task < last; ++task) {
        // In pairs, so that rounding errors grow with the logarithm of the number of pieces.
        for (std::int64_t step = 1; step < pieces_; step *= 2)
          for (std::int64_t p = 0; p + step < pieces_; p += 2 * step)
            loops_.join(part(task * pieces_ + p), part(task * pieces_ + p + step), tile_);
        finish(task, part(task * pieces_));
      }
    });
  }

 private:
  void split() {
    const std::int64_t elements = std::max<std::int64_t>(axes_.elements, 1);
    const std::int64_t columns = std::max<std::int64_t>(columns_.extent, 1);
    tile_ = std::min(columns, max_columns);
    if (!axes_.is_column)  // several outputs per task only if rows are short
      tile_ = std::clamp<std::int64_t>(piece_elements / elements, 1, tile_);
    tiles_ = (columns + tile_ - 1) / tile_;
    piece_ = elements;
    if (outer_kept_ * tiles_ < enough_tasks || elements > piece_elements * enough_tasks)
      piece_ = std::min(elements, std::max<std::int64_t>(piece_elements * 4 / tile_, 16));
    if (!axes_.is_column && tile_ == 1)
      // Not of the extent itself: times max_rows, that of a broadcast array may not fit in 63 bits.
      piece_ =
          std::min({piece_, piece_elements, std::min(rows_.extent, piece_elements) * max_rows});
    pieces_ = (elements + piece_ - 1) / piece_;
  }

  // If the last reduced axis is short, takes a long one, the closest in memory, as the rows of
  // blocks: a block takes about as long as twenty elements.
  void take_long_rows() {
    constexpr std::int64_t short_axis = 16, long_axis = 64;
    if (axes_.reduced.back().extent >= short_axis) return;
    const auto distance = [](const JobAxis& axis) {
      return axis.extent >= long_axis ? std::abs(axis.input) : INT64_MAX;
    };
    const auto closest = std::ranges::min_element(axes_.reduced, {}, distance);
    if (closest->extent >= long_axis) std::swap(*closest, axes_.reduced.back());
  }

  // Moves `base` to a combined index of the outer axes.
  static void move_outer(const std::vector<JobAxis>& axes, std::int64_t index, JobOffsets& base) {
    for_each_outer(axes, index,
                   [&](std::size_t i, std::int64_t steps) { base.move(axes[i], steps); });
  }
  // The offsets of a task's first output; `count` receives the number of its outputs.
  JobOffsets tile_base(std::int64_t task, std::int64_t& count) const {
    JobOffsets base;
    const std::int64_t first = task % tiles_ * tile_;
    count = std::min(tile_, columns_.extent - first);
    move_outer(axes_.kept, task / tiles_, base);
    base.move(columns_, first);
    return base;
  }

  std::optional<Array> buffer_of_computed() const {
    return computed_ ? std::optional(computed_->buffer()) : std::nullopt;
  }

  void add_piece(std::int64_t task, std::int64_t piece, void* accumulators,
                 const std::optional<Array>& buffer) const {
    std::int64_t count;
    const JobOffsets tile = tile_base(task, count);
    loops_.clear(accumulators, tile_);
    alignas(16) std::byte subtrahends[max_columns * 16];
    if (job_.finds_mean)
      find_means(task, tile, count, subtrahends);
    else if (info(job_.types.kind).has_subtrahend)
      gather(*job_.subtrahend, tile.subtrahend, columns_.subtrahend, count, subtrahends);
    add_blocks(loops_, task, piece, tile, count, subtrahends, accumulators, buffer);
  }

  // The means of the outputs of a task, whose elements are then in the cache.
  void find_means(std::int64_t task, const JobOffsets& tile, std::int64_t count,
                  std::byte* means) const {
    const DType dtype = job_.types.element.is_complex() ? complex128 : float64;
    const ReduceLoops& sums = find_loops({ReductionKind::sum, job_.types.element, dtype});
    sums.clear(means, count);
    add_blocks(sums, task, 0, tile, count, nullptr, means, std::nullopt);
    std::array<double, max_columns> counts;
    find_divisors(tile.divisor, count, 0, counts.data());
    divide(dtype, means, counts.data(), count);
  }

  void add_blocks(const ReduceLoops& loops, std::int64_t task, std::int64_t piece,
                  const JobOffsets& tile, std::int64_t count, const std::byte* subtrahends,
                  void* accumulators, const std::optional<Array>& buffer) const {
    ElementBlock block{.columns = count,
                       .column_step = columns_.input,
                       .row_step = rows_.input,
                       .mask_column_step = columns_.mask,
                       .mask_row_step = rows_.mask,
                       .subtrahends = subtrahends,
                       .index_step = rows_.index};
    const std::int64_t last = std::min((piece + 1) * piece_, axes_.elements);
    for (std::int64_t at = piece * piece_; at < last;) {
      const std::int64_t row = at % rows_.extent;
      JobOffsets base = tile;
      move_outer(axes_.reduced, at / rows_.extent, base);
      base.move(rows_, row);
      block.rows = std::min(rows_.extent - row, last - at);
      block.data = static_cast<const std::byte*>(job_.input->data()) +
                   base.input * job_.types.element.itemsize();
      if (job_.mask != nullptr)
        block.mask = static_cast<const std::byte*>(job_.mask->data()) + base.mask;
      block.index = base.index;
      if (computed_)
        computed_->add(block, {task / tiles_, task % tiles_ * tile_, at / rows_.extent, row},
                       *buffer, static_cast<std::byte*>(accumulators));
      else
        loops.add(block, accumulators);
      at += block.rows;
    }
  }

  static void gather(const Array& from, std::int64_t offset, std::int64_t step, std::int64_t count,
                     std::byte* to) {
    const std::int64_t size = from.dtype().itemsize();
    const auto* data = static_cast<const std::byte*>(from.data()) + offset * size;
    for (std::int64_t i = 0; i < count; ++i)
      std::memcpy(to + i * size, data + i * step * size, static_cast<std::size_t>(size));
  }

  void finish(std::int64_t task, void* accumulators) const {
    std::int64_t count;
    const JobOffsets base = tile_base(task, count);
    std::byte* out = static_cast<std::byte*>(job_.result->data()) +
                     base.result * job_.result->dtype().itemsize();
    if (info(job_.types.kind).gives_index) {
      std::array<std::int64_t, max_columns> indices;
      indices_of(loops_, accumulators, count, indices.data());
      return store(int64, indices.data(), count, int64, out, columns_.result);
    }
    DType dtype = job_.types.accumulator;
    if (job_.initial)
      join_initial(accumulators, count);
    else if (is_sum(job_.types.kind))
      add_zero(dtype, accumulators, count);
    if (job_.finish == Finish::subtract) {
      const Array& subtrahends = *job_.subtrahend;
      const auto* data = static_cast<const std::byte*>(subtrahends.data()) +
                         base.subtrahend * subtrahends.dtype().itemsize();
      subtract(dtype, accumulators, subtrahends.dtype(), data, columns_.subtrahend, count);
    } else if (job_.finish != Finish::nothing) {
      std::array<double, max_columns> divisors;
      find_divisors(base.divisor, count, job_.correction, divisors.data());
      divide(dtype, accumulators, divisors.data(), count);
      if (dtype == int64) dtype = float64;
      if (job_.finish == Finish::root) take_roots(static_cast<double*>(accumulators), count);
    }
    store(dtype, accumulators, count, job_.result->dtype(), out, columns_.result);
  }

  // The numbers of elements of outputs from an offset on, minus the correction.
  void find_divisors(std::int64_t offset, std::int64_t count, double correction,
                     double* divisors) const {
    const auto corrected = [&](double n) {
      return correction == 0 ? n : std::max(n - correction, 0.0);
    };
    if (job_.divisors == nullptr) {
      std::fill_n(divisors, count, corrected(job_.divisor));
      return;
    }
    const double* const counts = static_cast<const double*>(job_.divisors->data()) + offset;
    for (std::int64_t i = 0; i < count; ++i) divisors[i] = corrected(counts[i * columns_.divisor]);
  }

  void join_initial(void* accumulators, std::int64_t count) const {
    auto* at = static_cast<std::byte*>(accumulators);
    for (std::int64_t i = 0; i < count; ++i)
      loops_.join(at + i * loops_.accumulator_bytes, job_.initial->data(), 1);
  }

  const ReduceJob& job_;
  JobAxes axes_;
  const ReduceLoops& loops_;
  std::optional<CpuElements> computed_;
  JobAxis columns_, rows_;  // the last kept axis and the last reduced one
  // A task reduces a piece of each output of a tile: `piece_` elements of `tile_` outputs, which
  // are adjacent along columns_. There are `tiles_` tiles for each index of the outer kept axes.
  std::int64_t outer_kept_ = 1, tile_ = 1, tiles_ = 1, piece_ = 1, pieces_ = 1;
};

}  // namespace

std::optional<std::int64_t> try_count_nonzero(const Array& array) {
  const DType dtype = array.dtype();
  if (!array.device().is_cpu() || !dtype.is_computable() || !array.layout().is_row_major())
    return {};
  if (array.size() > piece_elements) return {};
  const ElementBlock block{
      .data = static_cast<const std::byte*>(array.data()), .rows = array.size(), .row_step = 1};
  std::int64_t count = 0;
  find_loops({ReductionKind::count, dtype, int64}).add(block, &count);
  return count;
}

namespace {

// Reduces to an array whose axes are in the order of the input's in memory, so that tiles are not
// tiny, and copies it to the result. Returns false, and does nothing, if that would not help.
bool run_in_input_order(const ReduceJob& job, std::int64_t tile) {
  const Array ordered = empty_in(job.input->layout().packed(job.result->shape()),
                                 job.result->dtype(), job.result->device());
  ReduceJob ordered_job = job;
  ordered_job.result = &ordered;
  CpuReduction reduction(ordered_job);
  if (reduction.tile() < 4 * tile || (job.finds_mean && !reduction.is_whole())) return false;
  reduction.run();
  copy(ordered, *job.result);
  return true;
}

}  // namespace

bool run_on_cpu(const ReduceJob& job) {
  CpuReduction reduction(job);
  if (job.computed != nullptr && reduction.has_tiny_blocks()) return false;
  if (job.finds_mean && !reduction.is_whole()) return false;
  constexpr std::int64_t many_outputs = 4096;
  if (job.computed == nullptr && reduction.outputs() >= many_outputs &&
      reduction.has_tiny_blocks() && run_in_input_order(job, reduction.tile()))
    return true;
  reduction.run();
  return true;
}

}  // namespace spanwise::ops::reduce
