// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/copy/run.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "backends/cpu/copy/block.hpp"
#include "backends/cpu/copy/plan.hpp"
#include "backends/cpu/copy/walk.hpp"
#include "spanwise/error.hpp"

namespace spanwise::cpu_backend {
namespace {

constexpr std::int64_t block_bytes = 1 << 16;  // fits in the L2 cache, and hides the cost of a call
constexpr std::int64_t serial_run_bytes =
    1 << 20;  // contiguous copies: one thread uses much of the bandwidth
constexpr std::int64_t serial_element_bytes =
    1 << 18;  // slower copies: waking threads takes microseconds
constexpr std::int64_t streaming_threshold =
    16 << 20;  // more than a core's share of the last-level cache
constexpr std::int64_t line = 64;

Axis& inner_of(CopyPlan& plan) { return plan.axes[static_cast<std::size_t>(plan.rank - 1)]; }
const Axis& axis_of(const CopyPlan& plan, int i) { return plan.axes[static_cast<std::size_t>(i)]; }

bool streams(const CopyPlan& plan, std::int64_t target_bytes) {
  return plan.size() * target_bytes >= streaming_threshold;
}

int kernel_index(int bytes) { return std::countr_zero(static_cast<unsigned>(bytes)); }

// The outer axis with the smallest source step, or -1.
int fastest_source(const CopyPlan& plan, int outer_axes) {
  int fastest = -1;
  for (int i = 0; i < outer_axes; ++i) {
    const std::int64_t step = std::abs(axis_of(plan, i).source_step);
    if (step != 0 && (fastest < 0 || step < std::abs(axis_of(plan, fastest).source_step)))
      fastest = i;
  }
  return fastest;
}

// The axis along which the source is contiguous if that is not the innermost, else -1: copying in
// the target's order would use one element of each source line before it is evicted.
int transposed_axis(const CopyPlan& plan) {
  const int fastest = fastest_source(plan, plan.rank - 1);
  if (fastest < 0) return -1;
  const std::int64_t step = std::abs(axis_of(plan, fastest).source_step);
  const std::int64_t inner = std::abs(axis_of(plan, plan.rank - 1).source_step);
  return inner > step && step * 2 <= line ? fastest : -1;
}

// Reverses an axis other than the innermost if its source step is negative.
void make_source_forward(CopyPlan& plan, int index) {
  Axis& axis = plan.axes[static_cast<std::size_t>(index)];
  if (axis.source_step >= 0) return;
  plan.target += (axis.extent - 1) * axis.target_step;
  plan.source += (axis.extent - 1) * axis.source_step;
  axis.target_step = -axis.target_step;
  axis.source_step = -axis.source_step;
}

// The words that a copy is split into.
struct WordFormat {
  int bytes;
  bool swap;  // whether their bytes are reversed
};

// Replaces an innermost axis of 2, 4 or 8 bytes that is reversed in the source by a byte swap.
bool take_swapped_word(CopyPlan& plan) {
  if (plan.rank == 0) return false;
  const Axis& inner = inner_of(plan);
  const bool is_word = inner.extent == 2 || inner.extent == 4 || inner.extent == 8;
  if (!is_word || inner.target_step != 1 || inner.source_step != -1) return false;
  plan.source -= inner.extent - 1;
  --plan.rank;
  return true;
}

WordFormat widest_words(CopyPlan& plan, int bytes) {
  if (!std::has_single_bit(static_cast<unsigned>(bytes)) || bytes > 16) {
    // Elements of 3, 12, ... bytes become an axis of bytes.
    plan.axes[static_cast<std::size_t>(plan.rank++)] = {bytes, 1, 1};
    bytes = 1;
  }
  if (plan.rank == 0) return {bytes, false};
  const std::int64_t extent = inner_of(plan).extent;
  if (bytes == 1 && take_swapped_word(plan)) return {static_cast<int>(extent), true};
  // A short contiguous innermost axis becomes one wider word.
  const Axis& inner = inner_of(plan);
  if (inner.target_step != bytes || inner.source_step != bytes || extent > 16 / bytes)
    return {bytes, false};
  const auto run = static_cast<unsigned>(extent * bytes);
  if (!std::has_single_bit(run)) return {bytes, false};
  --plan.rank;
  return {static_cast<int>(run), false};
}

std::int64_t rows_per_block(std::int64_t row_bytes) {
  return std::max<std::int64_t>(1, block_bytes / std::max<std::int64_t>(1, row_bytes));
}

// Copies contiguous runs. Short runs in another order in the source are copied in blocks along both
// orders, since a cache line of the source contains several.
void move_runs(const CopyPlan& plan, int bytes) {
  const std::int64_t run = axis_of(plan, plan.rank - 1).extent * bytes;
  Walk walk;
  walk.rows = plan.rank - 2;
  walk.block_rows = rows_per_block(run);
  walk.block_columns = 4 * block_bytes / bytes;
  const int fastest = fastest_source(plan, plan.rank - 1);
  if (run < 4 * line && plan.rank > 2 && fastest >= 0 && fastest != walk.rows) {
    walk.layers = walk.rows;
    walk.rows = fastest;
    walk.block_rows = walk.block_layers = 32;
  }
  walk.item_bytes = bytes;
  walk.serial_bytes = run < 4 * line ? serial_element_bytes : serial_run_bytes;
  walk.stream = run >= 2 * line && streams(plan, bytes);
  walk.run(plan, {move_kernels().rows});
}

// Tiles over the innermost axis and the axis along which the source is contiguous.
Walk transposed_walk(const CopyPlan& plan, int rows, int bytes, bool in_tiles) {
  Walk walk;
  walk.rows = rows;
  walk.block_rows = walk.block_columns = 16;
  if (in_tiles) {
    const TileSides sides =
        tile_sides(bytes, axis_of(plan, rows).extent, axis_of(plan, plan.rank - 1).extent);
    walk.block_rows = sides.rows;
    walk.block_columns = sides.columns;
  }
  walk.item_bytes = bytes;
  walk.serial_bytes = serial_element_bytes;
  return walk;
}

// Word by word in the order of the target.
Walk along_target(const CopyPlan& plan, std::int64_t bytes, std::int64_t max_words) {
  Walk walk;
  walk.rows = plan.rank - 2;
  walk.block_columns = max_words;
  const std::int64_t columns = plan.rank > 0 ? axis_of(plan, plan.rank - 1).extent : 1;
  walk.block_rows = std::max<std::int64_t>(1, max_words / columns);
  walk.item_bytes = bytes;
  walk.serial_bytes = serial_element_bytes;
  return walk;
}

void move(CopyPlan plan, int itemsize) {
  const auto [bytes, swap] = widest_words(plan, itemsize);
  const MoveKernels& kernels = move_kernels();
  const int log2_bytes = kernel_index(bytes);
  const BlockKernel one = swap ? kernels.swap[log2_bytes] : kernels.move[log2_bytes];
  if (plan.rank == 0)
    return one({plan.target, plan.source, 1, 1, bytes, bytes, bytes, bytes, false});
  const Axis inner = inner_of(plan);
  const bool packed = inner.target_step == bytes;
  if (packed && inner.source_step == bytes && !swap) return move_runs(plan, bytes);
  if (const int rows = transposed_axis(plan); rows >= 0) {
    make_source_forward(plan, rows);
    Walk walk = transposed_walk(plan, rows, bytes, packed);
    walk.stream = packed && streams(plan, bytes);
    // Eight tiles per unit, each of which prefetches the next.
    if (packed && !swap) walk.block_columns *= 8;
    if (!packed) return walk.run(plan, {one});
    if (!swap) return walk.run(plan, {kernels.transpose[log2_bytes]});
    return walk.run(plan, {kernels.transpose[log2_bytes], one, bytes});
  }
  Walk walk = along_target(plan, bytes, block_bytes / bytes);
  walk.stream = packed && streams(plan, bytes);
  walk.run(plan, {one});
}

// If tiles are transposed, the cast is a second pass over a buffer in the L1 cache.
void cast(CopyPlan plan, DType from, DType to) {
  const int from_bytes = from.itemsize(), to_bytes = to.itemsize();
  const std::int64_t wider = std::max(from_bytes, to_bytes);
  const BlockKernel kernel = cast_kernel(from, to);
  if (const int rows = transposed_axis(plan); rows >= 0) {
    const bool packed = inner_of(plan).target_step == to_bytes;
    make_source_forward(plan, rows);
    Walk walk = transposed_walk(plan, rows, from_bytes, packed);
    walk.item_bytes = wider;
    if (!packed) return walk.run(plan, {kernel});
    return walk.run(plan, {move_kernels().transpose[kernel_index(from_bytes)], kernel, from_bytes});
  }
  along_target(plan, wider, block_bytes / wider).run(plan, {kernel});
}

bool all_bytes_equal(const std::byte* bytes, int count) {
  return std::all_of(bytes, bytes + count, [&](std::byte b) { return b == bytes[0]; });
}

// The same block by its other axis: rows become columns.
Block by_columns(Block block) {
  std::swap(block.rows, block.columns);
  std::swap(block.target_row_step, block.target_step);
  std::swap(block.source_row_step, block.source_step);
  return block;
}

// Visits the rows from the last to the first if the source's stand backwards in memory.
void make_rows_forward(Block& block, std::int64_t itemsize) {
  if (block.source_row_step != -itemsize) return;
  block.target += (block.rows - 1) * block.target_row_step;
  block.source += (block.rows - 1) * block.source_row_step;
  block.target_row_step = -block.target_row_step;
  block.source_row_step = -block.source_row_step;
}

// Whether the target is contiguous along the columns and the source along the rows.
bool is_transposed(const Block& block, std::int64_t from, std::int64_t to) {
  constexpr std::int64_t min_side = 8;
  return block.rows >= min_side && block.columns >= min_side && block.target_step == to &&
         block.source_row_step == from && std::abs(block.source_step) > from;
}

void set_bytes(const Block& b) {
  for (std::int64_t row = 0; row < b.rows; ++row)
    std::memset(b.target + row * b.target_row_step, static_cast<int>(*b.source),
                static_cast<std::size_t>(b.columns));
}

}  // namespace

void copy(const Array& source, const Array& target) {
  if (target.size() == 0) return;
  const CopyPlan plan = CopyPlan::make(source, target);
  if (source.dtype() != target.dtype()) return cast(plan, source.dtype(), target.dtype());
  move(plan, target.dtype().itemsize());
}

void convert_tile(DType from, DType to, const Block& given) {
  const int size = from.itemsize();
  Block block = given;
  make_rows_forward(block, size);
  const BlockKernel transpose = move_kernels().transpose[kernel_index(size)];
  if (from == to) {
    if (is_transposed(block, size, size)) return transpose(block);
    if (const Block other = by_columns(block); is_transposed(other, size, size))
      return transpose(other);
    return cast_kernel(from, to)(block);
  }
  if (!is_transposed(block, size, to.itemsize()) || block.rows * block.columns * size > tile_bytes)
    return cast_kernel(from, to)(block);
  alignas(64) std::byte tile[tile_bytes];
  Block moved = block;
  moved.target = tile;
  moved.target_row_step = block.columns * size;
  moved.target_step = size;
  transpose(moved);
  block.source = tile;
  block.source_row_step = moved.target_row_step;
  block.source_step = size;
  cast_kernel(from, to)(block);
}

void fill(const Array& target, const Scalar& value) {
  if (value.dtype() != target.dtype())
    fail<DTypeError>("cpu fill: value is ", value.dtype(), ", array is ", target.dtype(),
                     "; expected one dtype");
  if (target.size() == 0) return;
  CopyPlan plan = CopyPlan::make(target);
  const int bytes = target.dtype().itemsize();
  plan.source = static_cast<const std::byte*>(value.data());
  if (plan.rank == 0 || inner_of(plan).target_step != bytes || !all_bytes_equal(plan.source, bytes))
    return move(plan, bytes);
  Axis& inner = inner_of(plan);
  inner = {inner.extent * bytes, 1, 0};
  Walk walk = along_target(plan, 1, 4 * block_bytes);
  walk.serial_bytes = serial_run_bytes;
  walk.run(plan, {set_bytes});
}

}  // namespace spanwise::cpu_backend
