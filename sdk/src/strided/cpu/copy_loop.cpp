// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "strided/cpu/copy_loop.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

namespace spanwise::strided {
namespace {

// Fits in the L2 cache, and hides the cost of a call.
constexpr std::int64_t block_bytes = 1 << 16;
// Copies of fewer bytes run on one thread, which uses much of the bandwidth for contiguous runs;
// waking others takes microseconds.
constexpr std::int64_t serial_run_bytes = 1 << 20, serial_element_bytes = 1 << 18;
// More than a core's share of the last-level cache.
constexpr std::int64_t streaming_threshold = 16 << 20;
constexpr std::int64_t line_bytes = 64;

bool all_bytes_equal(const std::byte* bytes, int count) {
  return std::all_of(bytes, bytes + count, [&](std::byte b) { return b == bytes[0]; });
}

void set_bytes(const Block& b) {
  for (std::int64_t row = 0; row < b.rows; ++row)
    std::memset(b.target + row * b.target_row_step, static_cast<int>(*b.source),
                static_cast<std::size_t>(b.columns * b.target_step));
}

}  // namespace

// Merges a short contiguous innermost axis into one wider word, or, of bytes that are reversed in
// the source, into a word whose bytes are swapped; returns whether they are.
bool StridedCopy::widen_words() {
  const std::int64_t count = extent(inner()), to = target_step(inner()),
                     from = source_step(inner());
  const bool swaps =
      bytes_ == 1 && (count == 2 || count == 4 || count == 8) && to == 1 && from == -1;
  const bool is_short = to == bytes_ && from == bytes_ && count <= 16 / bytes_ &&
                        std::has_single_bit(static_cast<unsigned>(count * bytes_));
  if (!swaps && !is_short) return false;
  if (swaps) data_[1] -= count - 1;
  bytes_ *= static_cast<int>(count);
  --split_.axes;
  return swaps;
}

// The outer axis with the smallest source step, or -1.
int StridedCopy::fastest_source() const {
  int fastest = -1;
  for (int i = 0; i < inner(); ++i) {
    const std::int64_t step = std::abs(source_step(i));
    if (step != 0 && (fastest < 0 || step < std::abs(source_step(fastest)))) fastest = i;
  }
  return fastest;
}

// The axis along which the source is contiguous if that is not the innermost, else -1: copying in
// the target's order would use one element of each source line before it is evicted.
int StridedCopy::transposed_axis() const {
  const int fastest = fastest_source();
  if (fastest < 0) return -1;
  const std::int64_t step = std::abs(source_step(fastest));
  return std::abs(source_step(inner())) > step && step * 2 <= line_bytes ? fastest : -1;
}

// The columns before the first cache line of the target if that is the same for all rows, so that
// the other blocks begin at cache lines; else 0.
std::int64_t StridedCopy::first_columns() const {
  const std::int64_t step = target_step(inner());
  const auto misalignment = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data_[0]) %
                                                      static_cast<std::uintptr_t>(line_bytes));
  if (step <= 0 || misalignment == 0 || misalignment % step != 0 ||
      split_.block_columns * step <= line_bytes)
    return 0;
  for (int i = 0; i < inner(); ++i)
    if (target_step(i) % line_bytes != 0) return 0;
  return split_.block_columns - misalignment / step;
}

// Word by word in the order of the target.
void StridedCopy::split_along_target(std::int64_t max_words) {
  split_.rows = inner() - 1;
  split_.block_columns = max_words;
  split_.block_rows = std::max<std::int64_t>(1, max_words / extent(inner()));
}

// Tiles over the innermost axis and the axis along which the source is contiguous.
void StridedCopy::split_transposed(int rows, int bytes) {
  split_.rows = rows;
  split_.block_rows = split_.block_columns = 16;
  if (bytes == 0) return;
  const TileSides sides = tile_sides(bytes, extent(rows), extent(inner()));
  split_.block_rows = sides.rows;
  split_.block_columns = sides.columns;
}

// Whether a tile has so few words that its overhead would dominate, and a longer axis is left.
bool StridedCopy::has_small_axes(int rows) const {
  constexpr std::int64_t few = 64, min_length = 16;
  return inner() == 2 && rows == 1 && extent(1) * extent(2) <= few && extent(0) >= min_length;
}

// Visits the long axis first, in blocks that stay in the L1 cache.
void StridedCopy::split_small_axes() {
  split_.columns = 0;
  split_.rows = 1;
  split_.layers = 2;
  split_.block_rows = extent(1);
  split_.block_layers = extent(2);
  const std::int64_t cell = std::max(std::abs(target_step(0)), std::abs(source_step(0)));
  split_.block_columns = std::max<std::int64_t>(16, tile_bytes / 2 / cell);
}

// Copies contiguous runs. Short runs in another order in the source are copied in blocks along both
// orders, since a cache line of the source contains several.
void StridedCopy::move_runs() {
  const std::int64_t run_bytes = extent(inner()) * bytes_;
  split_.rows = inner() - 1;
  split_.block_rows = std::max<std::int64_t>(1, block_bytes / std::max<std::int64_t>(1, run_bytes));
  split_.block_columns = 4 * block_bytes / bytes_;
  const int fastest = fastest_source();
  if (run_bytes < 4 * line_bytes && inner() > 1 && fastest >= 0 && fastest != split_.rows) {
    split_.layers = split_.rows;
    split_.rows = fastest;
    split_.block_rows = split_.block_layers = 32;
  }
  non_temporal_ &= run_bytes >= 2 * line_bytes;
  run(bytes_, run_bytes < 4 * line_bytes ? serial_element_bytes : serial_run_bytes,
      move_kernels().rows);
}

void StridedCopy::move() {
  const bool swaps = widen_words();
  const MoveKernels& kernels = move_kernels();
  const int index = kernel_index(bytes_);
  const BlockKernel by_words = swaps ? kernels.swap[index] : kernels.move[index];
  if (split_.axes == 0) return by_words({data_[0], data_[1], 1, 1, bytes_, bytes_, bytes_, bytes_});
  const bool is_packed = target_step(inner()) == bytes_;
  non_temporal_ = is_packed && walk_.size() * itemsizes_[0] >= streaming_threshold;
  if (is_packed && source_step(inner()) == bytes_ && !swaps) return move_runs();
  const int rows = transposed_axis();
  if (rows < 0) {
    split_along_target(block_bytes / bytes_);
    return run(bytes_, serial_element_bytes, by_words);
  }
  if (has_small_axes(rows)) {
    non_temporal_ = false;
    split_small_axes();
    return run(bytes_, serial_element_bytes, by_words);
  }
  split_transposed(rows, is_packed ? bytes_ : 0);
  // Eight tiles per block, each of which prefetches the next.
  if (is_packed && !swaps) split_.block_columns *= 8;
  const BlockKernel transpose = kernels.transpose[index];
  run(bytes_, serial_element_bytes, [&](const Block& unordered) {
    const Block block = with_forward_rows(unordered, bytes_);
    if (!is_packed) return by_words(block);
    return swaps ? transpose_then(block, bytes_, by_words) : transpose(block);
  });
}

// If tiles are transposed, the cast is a second pass over a buffer in the L1 cache.
void StridedCopy::cast(DType from, DType to) {
  const std::int64_t wider = std::max(itemsizes_[0], itemsizes_[1]);
  const BlockKernel kernel = cast_kernel(from, to);
  const int rows = transposed_axis();
  if (rows < 0) {
    split_along_target(block_bytes / wider);
    return run(wider, serial_element_bytes, kernel);
  }
  const bool is_packed = target_step(inner()) == itemsizes_[0];
  const int size = from.itemsize();
  split_transposed(rows, is_packed ? size : 0);
  run(wider, serial_element_bytes, [&](const Block& unordered) {
    const Block block = with_forward_rows(unordered, size);
    return is_packed ? transpose_then(block, size, kernel) : kernel(block);
  });
}

bool StridedCopy::try_set_bytes() {
  if (target_step(inner()) != bytes_ || !all_bytes_equal(data_[1], bytes_)) return false;
  split_along_target(4 * block_bytes / bytes_);
  run(bytes_, serial_run_bytes, set_bytes);
  return true;
}

}  // namespace spanwise::strided
