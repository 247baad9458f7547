// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/blas/parts.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace spanwise::cpu_backend::blas {
namespace {

// Parts start at multiples of this many rows or columns, a multiple of the tile sizes of most BLAS
// kernels.
constexpr std::int64_t part_alignment = 16;

double work_of(const GemmCall& call) {
  return static_cast<double>(call.rows) * static_cast<double>(call.columns) *
         static_cast<double>(call.depth);
}

// At most `max_parts`, and so few that each has min_part_work.
std::int64_t part_count(const GemmCall& call, std::int64_t max_parts) {
  const double count = work_of(call) / min_part_work;
  return count < 2 ? 1 : std::min(max_parts, static_cast<std::int64_t>(std::min(count, 1e6)));
}

// The extent of one part if `extent` is split into about `count` parts.
std::int64_t part_extent(std::int64_t extent, std::int64_t count) {
  const std::int64_t exact = (extent + count - 1) / count;
  return std::min(extent, (exact + part_alignment - 1) / part_alignment * part_alignment);
}

std::byte* element_address(const void* data, std::int64_t elements, DType dtype) {
  return static_cast<std::byte*>(const_cast<void*>(data)) + elements * dtype.itemsize();
}

}  // namespace

std::vector<ProductPart> parts_of(const GemmCall& call, std::int64_t max_parts) {
  const std::int64_t count = part_count(call, max_parts);
  // Each part reads its rows of `left` and its columns of `right`; of all parts of the same area, a
  // square reads least.
  std::int64_t row_parts = 1;
  double min_reads = 0;
  for (std::int64_t n = 1; n <= count; ++n) {
    if (count % n != 0) continue;
    const double reads = static_cast<double>(part_extent(call.rows, n)) +
                         static_cast<double>(part_extent(call.columns, count / n));
    if (n == 1 || reads < min_reads) {
      min_reads = reads;
      row_parts = n;
    }
  }
  const std::int64_t rows = part_extent(call.rows, row_parts);
  const std::int64_t columns = part_extent(call.columns, count / row_parts);
  std::vector<ProductPart> parts;
  for (std::int64_t row = 0; row < call.rows; row += rows)
    for (std::int64_t column = 0; column < call.columns; column += columns)
      parts.push_back(
          {row, std::min(rows, call.rows - row), column, std::min(columns, call.columns - column)});
  return parts;
}

std::vector<ProductPart> upper_parts_of(const GemmCall& call, std::int64_t max_parts) {
  const auto sides = static_cast<std::int64_t>(
      std::ceil(std::sqrt(static_cast<double>(part_count(call, max_parts)))));
  const std::int64_t side = part_extent(call.rows, std::max<std::int64_t>(1, sides));
  std::vector<ProductPart> parts;
  for (std::int64_t row = 0; row < call.rows; row += side)
    for (std::int64_t column = row; column < call.columns; column += side)
      parts.push_back(
          {row, std::min(side, call.rows - row), column, std::min(side, call.columns - column)});
  // Parts on the diagonal take half the time; they come last, to balance the threads.
  std::ranges::stable_partition(parts,
                                [](const ProductPart& part) { return part.row != part.column; });
  return parts;
}

GemmCall part_of(const GemmCall& call, const ProductPart& part) {
  GemmCall part_call = call;
  part_call.batch = 1;
  part_call.rows = part.rows;
  part_call.columns = part.columns;
  const std::int64_t left_step = call.left.is_transposed ? 1 : call.left.leading;
  const std::int64_t right_step = call.right.is_transposed ? call.right.leading : 1;
  part_call.left.data = element_address(call.left.data, part.row * left_step, call.dtype);
  part_call.right.data = element_address(call.right.data, part.column * right_step, call.dtype);
  part_call.result =
      element_address(call.result, part.row * call.result_leading + part.column, call.dtype);
  return part_call;
}

}  // namespace spanwise::cpu_backend::blas
