// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <utility>

#include "strided/cpu/loops/block.hpp"

namespace spanwise {
namespace strided {
namespace {

// The same block by its other axis: rows become columns.
Block by_columns(Block block) {
  std::swap(block.rows, block.columns);
  std::swap(block.target_row_step, block.target_step);
  std::swap(block.source_row_step, block.source_step);
  return block;
}

// Whether the target is contiguous along the columns and the source along the rows.
bool is_across(const Block& block, std::int64_t from, std::int64_t to) {
  constexpr std::int64_t min_side = 8;
  return block.rows >= min_side && block.columns >= min_side && block.target_step == to &&
         block.source_row_step == from && std::abs(block.source_step) > from;
}

}  // namespace

Block with_forward_rows(Block block, std::int64_t itemsize) {
  if (block.source_row_step != -itemsize) return block;
  block.target += (block.rows - 1) * block.target_row_step;
  block.source += (block.rows - 1) * block.source_row_step;
  block.target_row_step = -block.target_row_step;
  block.source_row_step = -block.source_row_step;
  return block;
}

void transpose_then(const Block& block, int bytes, BlockKernel then) {
  alignas(64) std::byte tile[tile_bytes];
  Block to_tile = block, from_tile = block;
  to_tile.target = tile;
  from_tile.source = tile;
  to_tile.target_step = from_tile.source_step = bytes;
  to_tile.target_row_step = from_tile.source_row_step = bytes * block.columns;
  to_tile.non_temporal = false;
  move_kernels().transpose[kernel_index(bytes)](to_tile);
  then(from_tile);
}

}  // namespace strided

void convert_block(DType from, DType to, const HostBlock& host_block) {
  using namespace strided;
  const int size = from.itemsize();
  const Block block = with_forward_rows(host_block, size);
  if (from == to) {
    const BlockKernel transpose = move_kernels().transpose[kernel_index(size)];
    if (is_across(block, size, size)) return transpose(block);
    if (const Block turned = by_columns(block); is_across(turned, size, size))
      return transpose(turned);
  } else if (is_across(block, size, to.itemsize())) {
    // A block that is larger than the tile is split by rows.
    const std::int64_t max_rows = std::max<std::int64_t>(8, tile_bytes / (block.columns * size));
    if (block.columns * size * max_rows <= tile_bytes) {
      Block part = block;
      for (std::int64_t row = 0; row < block.rows; row += max_rows) {
        part.rows = std::min(max_rows, block.rows - row);
        transpose_then(part, size, cast_kernel(from, to));
        part.target += part.rows * part.target_row_step;
        part.source += part.rows * part.source_row_step;
      }
      return;
    }
  }
  cast_kernel(from, to)(block);
}

}  // namespace spanwise
