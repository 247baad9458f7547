// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "walk.hpp"

#include <algorithm>
#include <numeric>

#include "spanwise/op_sdk.hpp"

namespace spanwise::ops {
namespace {

std::int64_t stride_at(const Array& array, int axis, int rank) noexcept {
  const int own = axis - (rank - array.rank());
  return own < 0 || array.shape()[own] == 1 ? 0 : array.strides()[own];
}

// Adds one axis, as part of the axis before where every array goes on in the same stride.
void add_axis(Walk& walk, std::int64_t extent, std::span<const std::int64_t> strides) {
  bool merges = !walk.shape.empty();
  for (std::size_t i = 0; i < strides.size() && merges; ++i)
    merges = walk.strides[i].back() == strides[i] * extent;
  if (merges) {
    walk.shape.back() *= extent;
  } else {
    walk.shape.push_back(extent);
  }
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (!merges) walk.strides[i].push_back(0);
    walk.strides[i].back() = strides[i];
  }
}

// The axes of `array` from the slowest in memory to the fastest.
std::vector<int> memory_order(const Array& array) {
  std::vector<int> order(static_cast<std::size_t>(array.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return std::abs(array.strides()[a]) > std::abs(array.strides()[b]);
  });
  return order;
}

bool is_dense(const Array& array, const std::vector<int>& order) {
  return array.permute(order).layout().is_row_major();
}

// The order for the result: C where an operand of full shape has it or none has another.
std::vector<int> common_order(std::span<const Array* const> operands, const Shape& shape) {
  std::vector<int> order;
  for (const Array* operand : operands) {
    if (operand->shape() != shape) continue;
    if (operand->layout().is_row_major()) return {};
    if (!order.empty()) continue;
    order = memory_order(*operand);
    if (!is_dense(*operand, order)) order.clear();
  }
  return order;
}

bool is_flat(std::span<const Array* const> operands, const Array& result) {
  if (!result.layout().is_row_major()) return false;
  for (const Array* operand : operands)
    if (operand->shape() != result.shape() || !operand->layout().is_row_major()) return false;
  return true;
}

}  // namespace

void plan_walk(std::span<const Array* const> operands, const Array& result, Walk& walk) {
  const int rank = result.rank();
  const std::size_t count = operands.size() + 1;
  walk.size = result.size();
  walk.shape.clear();
  walk.strides.resize(count);
  if (is_flat(operands, result)) {
    walk.shape.assign(1, walk.size);
    for (auto& strides : walk.strides) strides.assign(1, 1);
    return;
  }
  for (auto& strides : walk.strides) strides.clear();
  int order[max_rank];  // the result's axes, the slowest in memory first
  std::iota(order, order + rank, 0);
  if (!result.layout().is_row_major())
    std::stable_sort(order, order + rank, [&](int a, int b) {
      return std::abs(result.strides()[a]) > std::abs(result.strides()[b]);
    });
  std::int64_t strides[8];
  for (int i = 0; i < rank; ++i) {
    const int axis = order[i];
    if (result.shape()[axis] == 1) continue;
    for (std::size_t k = 0; k < operands.size(); ++k)
      strides[k] = stride_at(*operands[k], axis, rank);
    strides[operands.size()] = result.strides()[axis];
    add_axis(walk, result.shape()[axis], std::span(strides, count));
  }
  if (walk.shape.empty()) {
    std::fill_n(strides, count, 0);
    add_axis(walk, walk.size, std::span(strides, count));
  }
}

const Array& result_array(Cell& cell, std::span<const Array* const> operands, const Shape& shape,
                          DType dtype, Device device) {
  const std::vector<int> order = common_order(operands, shape);
  if (order.empty()) return output_array(cell, shape, dtype, device);
  std::vector<int> inverse(order.size());
  Shape permuted(shape.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    inverse[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    permuted[static_cast<int>(i)] = shape[order[i]];
  }
  // In the order of memory the old array and the new are both in C order.
  if (cell.value && cell.value->rank() == shape.size()) cell.value = cell.value->permute(order);
  return cell.value.emplace(output_array(cell, permuted, dtype, device).permute(inverse));
}

}  // namespace spanwise::ops
