// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/copy/run.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "backends/cpu/copy/block.hpp"
#include "backends/cpu/copy/plan.hpp"
#include "backends/cpu/copy/walk.hpp"
#include "spanwise/error.hpp"

namespace spanwise::host {
namespace {

constexpr std::int64_t block_bytes = 1 << 16;     // small beside L2, large beside a call
constexpr std::int64_t runs_alone = 1 << 20;      // whole runs: one thread fills much of the bus
constexpr std::int64_t elements_alone = 1 << 18;  // anything slower: waking costs some microseconds
constexpr std::int64_t streams_from = 16 << 20;   // more than a core's share of the last cache
constexpr std::int64_t line = 64;

Axis& inner_of(CopyPlan& plan) { return plan.axes[static_cast<std::size_t>(plan.rank - 1)]; }
const Axis& axis_of(const CopyPlan& plan, int i) { return plan.axes[static_cast<std::size_t>(i)]; }

bool streams(const CopyPlan& plan, std::int64_t target_bytes) {
  return plan.size() * target_bytes >= streams_from;
}

int kernel_place(int bytes) { return std::countr_zero(static_cast<unsigned>(bytes)); }

// The outer axis along which the source runs fastest, -1 where that is along none.
int fastest_source(const CopyPlan& plan, int outer_axes) {
  int fastest = -1;
  for (int i = 0; i < outer_axes; ++i) {
    const std::int64_t step = std::abs(axis_of(plan, i).source_step);
    if (step != 0 && (fastest < 0 || step < std::abs(axis_of(plan, fastest).source_step)))
      fastest = i;
  }
  return fastest;
}

// The axis along which the source runs, where that is not the innermost: copying by the target's
// order alone would use one element of each source line before it is thrown out.
int crossing_axis(const CopyPlan& plan) {
  const int fastest = fastest_source(plan, plan.rank - 1);
  if (fastest < 0) return -1;
  const std::int64_t step = std::abs(axis_of(plan, fastest).source_step);
  const std::int64_t inner = std::abs(axis_of(plan, plan.rank - 1).source_step);
  return inner > step && step * 2 <= line ? fastest : -1;
}

// Turns an axis other than the innermost so that the source runs forwards along it.
void turn_forwards(CopyPlan& plan, int place) {
  Axis& axis = plan.axes[static_cast<std::size_t>(place)];
  if (axis.source_step >= 0) return;
  plan.target += (axis.extent - 1) * axis.target_step;
  plan.source += (axis.extent - 1) * axis.source_step;
  axis.target_step = -axis.target_step;
  axis.source_step = -axis.source_step;
}

// Words of some bytes each, of which the kernels know what to do with one at a time.
struct Words {
  int bytes;
  bool swap;  // turned around on the way
};

// The bytes of a word that run backwards in the source are a word of the other byte order.
bool take_swapped_word(CopyPlan& plan) {
  if (plan.rank == 0) return false;
  const Axis& inner = inner_of(plan);
  const bool is_word = inner.extent == 2 || inner.extent == 4 || inner.extent == 8;
  if (!is_word || inner.target_step != 1 || inner.source_step != -1) return false;
  plan.source -= inner.extent - 1;
  --plan.rank;
  return true;
}

Words words_of(CopyPlan& plan, int bytes) {
  if (!std::has_single_bit(static_cast<unsigned>(bytes)) || bytes > 16) {
    // Elements of 3, 12, ... bytes are bytes along one more axis.
    plan.axes[static_cast<std::size_t>(plan.rank++)] = {bytes, 1, 1};
    bytes = 1;
  }
  if (plan.rank == 0) return {bytes, false};
  const std::int64_t extent = inner_of(plan).extent;
  if (bytes == 1 && take_swapped_word(plan)) return {static_cast<int>(extent), true};
  // An innermost run that is itself a word of the machine is one element of that size.
  const Axis& inner = inner_of(plan);
  if (inner.target_step != bytes || inner.source_step != bytes || extent > 16 / bytes)
    return {bytes, false};
  const auto run = static_cast<unsigned>(extent * bytes);
  if (!std::has_single_bit(run)) return {bytes, false};
  --plan.rank;
  return {static_cast<int>(run), false};
}

std::int64_t rows_of_block(std::int64_t row_bytes) {
  return std::max<std::int64_t>(1, block_bytes / std::max<std::int64_t>(1, row_bytes));
}

// Whole runs. Short ones that the source has in another order are taken in blocks of both orders,
// since a line of the source holds several.
void move_runs(const CopyPlan& plan, int bytes) {
  const std::int64_t run = axis_of(plan, plan.rank - 1).extent * bytes;
  Walk walk;
  walk.rows = plan.rank - 2;
  walk.rows_at_once = rows_of_block(run);
  walk.columns_at_once = 4 * block_bytes / bytes;
  const int fastest = fastest_source(plan, plan.rank - 1);
  if (run < 4 * line && plan.rank > 2 && fastest >= 0 && fastest != walk.rows) {
    walk.layers = walk.rows;
    walk.rows = fastest;
    walk.rows_at_once = walk.layers_at_once = 32;
  }
  walk.item_bytes = bytes;
  walk.alone_bytes = run < 4 * line ? elements_alone : runs_alone;
  walk.stream = run >= 2 * line && streams(plan, bytes);
  walk.run(plan, {move_kernels().rows});
}

// Tiles over the innermost axis and the one along which the source runs.
Walk crossing(const CopyPlan& plan, int rows, int bytes, bool in_tiles) {
  Walk walk;
  walk.rows = rows;
  walk.rows_at_once = walk.columns_at_once = 16;
  if (in_tiles) {
    const TileSides sides =
        tile_sides(bytes, axis_of(plan, rows).extent, axis_of(plan, plan.rank - 1).extent);
    walk.rows_at_once = sides.rows;
    walk.columns_at_once = sides.columns;
  }
  walk.item_bytes = bytes;
  walk.alone_bytes = elements_alone;
  return walk;
}

// One word at a time along the target.
Walk along_target(const CopyPlan& plan, std::int64_t bytes, std::int64_t most_words) {
  Walk walk;
  walk.rows = plan.rank - 2;
  walk.columns_at_once = most_words;
  const std::int64_t columns = plan.rank > 0 ? axis_of(plan, plan.rank - 1).extent : 1;
  walk.rows_at_once = std::max<std::int64_t>(1, most_words / columns);
  walk.item_bytes = bytes;
  walk.alone_bytes = elements_alone;
  return walk;
}

void move(CopyPlan plan, int itemsize) {
  const auto [bytes, swap] = words_of(plan, itemsize);
  const MoveKernels& kernels = move_kernels();
  const int place = kernel_place(bytes);
  const BlockKernel one = swap ? kernels.swap[place] : kernels.move[place];
  if (plan.rank == 0)
    return one({plan.target, plan.source, 1, 1, bytes, bytes, bytes, bytes, false});
  const Axis inner = inner_of(plan);
  const bool packed = inner.target_step == bytes;
  if (packed && inner.source_step == bytes && !swap) return move_runs(plan, bytes);
  if (const int rows = crossing_axis(plan); rows >= 0) {
    turn_forwards(plan, rows);
    Walk walk = crossing(plan, rows, bytes, packed);
    walk.stream = packed && streams(plan, bytes);
    // Units of some tiles, of which one prefetches the next.
    if (packed && !swap) walk.columns_at_once *= 8;
    if (!packed) return walk.run(plan, {one});
    if (!swap) return walk.run(plan, {kernels.cross[place]});
    return walk.run(plan, {kernels.cross[place], one, bytes});
  }
  Walk walk = along_target(plan, bytes, block_bytes / bytes);
  walk.stream = packed && streams(plan, bytes);
  walk.run(plan, {one});
}

// Where the copy has to turn tiles, the cast is one more pass over a buffer in L1.
void cast(CopyPlan plan, DType from, DType to) {
  const int from_bytes = from.itemsize(), to_bytes = to.itemsize();
  const std::int64_t wider = std::max(from_bytes, to_bytes);
  const BlockKernel kernel = cast_kernel(from, to);
  if (const int rows = crossing_axis(plan); rows >= 0) {
    const bool packed = inner_of(plan).target_step == to_bytes;
    turn_forwards(plan, rows);
    Walk walk = crossing(plan, rows, from_bytes, packed);
    walk.item_bytes = wider;
    if (!packed) return walk.run(plan, {kernel});
    return walk.run(plan, {move_kernels().cross[kernel_place(from_bytes)], kernel, from_bytes});
  }
  along_target(plan, wider, block_bytes / wider).run(plan, {kernel});
}

bool all_bytes_equal(const std::byte* bytes, int count) {
  return std::all_of(bytes, bytes + count, [&](std::byte b) { return b == bytes[0]; });
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
  walk.alone_bytes = runs_alone;
  walk.run(plan, {set_bytes});
}

}  // namespace spanwise::host
