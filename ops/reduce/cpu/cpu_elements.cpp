// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cpu_elements.hpp"

#include <array>

#include "spanwise/runtime/creation.hpp"

namespace spanwise::ops::reduce {
Array CpuElements::buffer() const { return empty(Shape{buffer_elements_}, element_, device_); }

void CpuElements::add(const ElementBlock& block, const BlockStart& start, const Array& buffer,
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
      compute(offsets_at(
                  {start.outer_kept, start.column + column, start.outer_reduced, start.row + row}),
              part.columns, part.rows, buffer);
      loops_.add(part, accumulators + column * loops_.accumulator_bytes);
    }
}

CpuElements::Offsets CpuElements::offsets_at(const BlockStart& start) const {
  Offsets offsets{};
  const auto move = [&](const OperandStrides& strides, std::int64_t steps) {
    for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] += strides[k] * steps;
  };
  for_each_outer(axes_.kept, start.outer_kept,
                 [&](std::size_t i, std::int64_t steps) { move(axes_.kept_strides[i], steps); });
  for_each_outer(axes_.reduced, start.outer_reduced,
                 [&](std::size_t i, std::int64_t steps) { move(axes_.reduced_strides[i], steps); });
  move(axes_.kept_strides.back(), start.column);
  move(axes_.reduced_strides.back(), start.row);
  return offsets;
}

void CpuElements::compute(const Offsets& offsets, std::int64_t columns, std::int64_t rows,
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

Array CpuElements::part_of(const Array& operand, std::size_t k, std::int64_t offset,
                           std::int64_t columns, std::int64_t rows) const {
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

}  // namespace spanwise::ops::reduce
