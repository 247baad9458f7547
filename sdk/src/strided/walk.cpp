// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/strided/walk.hpp"

#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

namespace spanwise {
namespace {

// The stride of one operand along an axis of the broadcast shape; 0 where it is broadcast.
std::int64_t stride_at(const Layout& layout, int axis, int rank) noexcept {
  const int own = axis - (rank - layout.rank());
  return own < 0 || layout.shape[own] == 1 ? 0 : layout.strides[own];
}

// Whether axis `slow` should become the faster of the two, because its strides are smaller in all
// operands whose strides along both are not 0. Nothing if there is no such operand.
std::optional<bool> should_swap(int slow, int fast, int rank,
                                std::span<const Layout* const> operands) noexcept {
  std::optional<bool> answer;
  for (const Layout* operand : operands) {
    const std::int64_t s = std::abs(stride_at(*operand, slow, rank));
    const std::int64_t f = std::abs(stride_at(*operand, fast, rank));
    if (s == 0 || f == 0) continue;
    if (f <= s) return false;
    answer = true;
  }
  return answer;
}

bool all_row_major(const Shape& shape, std::span<const Layout* const> operands) noexcept {
  return std::ranges::all_of(operands, [&](const Layout* operand) {
    return operand->rank() == 0 || (operand->shape == shape && operand->is_row_major());
  });
}

}  // namespace

Walk::Walk(const Shape& shape, std::span<const Layout* const> operands, int leader,
           Direction direction)
    : operands_(static_cast<int>(operands.size())), is_forward_(direction == Direction::forward) {
  reserve(std::max(shape.size(), 1) + (is_forward_ ? 1 : 0));
  for (const std::int64_t extent : shape) size_ *= extent;
  if (size_ != 0) add_axes(shape, operands);
  if (is_forward_) make_forward(leader);
  if (rank_ > 1) {
    if (leader >= 0) sort(leader);
    merge();
  }
  if (rank_ == 0) {
    if (is_forward_) std::copy_n(at(0), 1 + operands_, at(1));
    std::fill_n(numbers_, 1 + operands_, 0);
    numbers_[0] = size_;
    rank_ = 1;
  }
}

Walk::Walk(Walk&& other) noexcept
    : rank_(other.rank_),
      operands_(other.operands_),
      is_forward_(other.is_forward_),
      size_(other.size_),
      heap_(std::move(other.heap_)) {
  if (heap_) {
    numbers_ = heap_.get();
  } else {
    std::copy_n(other.inline_, (rank_ + (is_forward_ ? 1 : 0)) * (1 + operands_), inline_);
  }
}

void Walk::reserve(int rank) {
  const int count = rank * (1 + operands_);
  if (count <= inline_numbers) return;
  heap_ = std::make_unique<std::int64_t[]>(static_cast<std::size_t>(count));
  numbers_ = heap_.get();
}

void Walk::add_axes(const Shape& shape, std::span<const Layout* const> operands) {
  for (int axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    std::int64_t* entry = at(rank_++);
    *entry++ = shape[axis];
    for (const Layout* operand : operands) *entry++ = stride_at(*operand, axis, shape.size());
  }
}

void Walk::make_forward(int leader) noexcept {
  std::int64_t* const offsets = at(rank_);
  std::fill_n(offsets, 1 + operands_, 0);
  for (int axis = 0; axis < rank_; ++axis) {
    if (stride(axis, leader) < 0) reverse(axis, offsets, 1);
  }
}

void Walk::reverse(int axis, std::int64_t* offsets, std::int64_t unit) noexcept {
  std::int64_t* const entry = at(axis);
  for (int k = 1; k <= operands_; ++k) {
    offsets[k] += (entry[0] - 1) * entry[k] * unit;
    entry[k] = -entry[k];
  }
}

void Walk::remove_last() noexcept {
  --rank_;
  if (is_forward_) std::copy_n(at(rank_ + 1), 1 + operands_, at(rank_));
}

// Compares the entries of two axes. False where no operand decides, so that the axes keep their
// order.
bool Walk::comes_before(const std::int64_t* a, const std::int64_t* b, int leader) const noexcept {
  const auto compare = [&](int operand) {
    const std::int64_t sa = std::abs(a[1 + operand]), sb = std::abs(b[1 + operand]);
    return sa == 0 || sb == 0 || sa == sb ? 0 : sa > sb ? 1 : -1;
  };
  if (const int order = compare(leader); order != 0) return order > 0;
  for (int operand = 0; operand < operands_; ++operand)
    if (const int order = compare(operand); order != 0) return order > 0;
  return false;
}

// An insertion sort: because of undecided pairs the comparison is no strict weak ordering, as
// std::sort requires.
void Walk::sort(int leader) noexcept {
  for (int i = 1; i < rank_; ++i)
    for (int j = i; j > 0 && comes_before(at(j), at(j - 1), leader); --j)
      std::swap_ranges(at(j), at(j + 1), at(j - 1));
}

void Walk::merge() noexcept {
  int kept = 0;
  for (int axis = 1; axis < rank_; ++axis) {
    std::int64_t *outer = at(kept), *inner = at(axis);
    bool merges = true;
    for (int k = 1; k <= operands_ && merges; ++k) merges = outer[k] == inner[k] * inner[0];
    if (merges) inner[0] *= outer[0];
    if (!merges) ++kept;
    if (kept != axis) std::copy_n(inner, 1 + operands_, at(kept));
  }
  if (is_forward_) std::copy_n(at(rank_), 1 + operands_, at(kept + 1));
  rank_ = kept + 1;
}

Walk::AxisOrder Walk::order(int operand) const noexcept {
  AxisOrder order;
  const auto comes_before = [&](int a, int b) {
    const std::int64_t sa = std::abs(stride(a, operand)), sb = std::abs(stride(b, operand));
    return sa != 0 && (sb == 0 || sa < sb);
  };
  for (int i = 0; i < rank_; ++i) {
    const int axis = rank_ - 1 - i;
    int at = i;
    for (; at > 0 && comes_before(axis, order[static_cast<std::size_t>(at - 1)]); --at)
      order[static_cast<std::size_t>(at)] = order[static_cast<std::size_t>(at - 1)];
    order[static_cast<std::size_t>(at)] = axis;
  }
  return order;
}

std::array<std::int64_t, max_rank> Walk::tile_sides(std::span<const TileOperand> operands,
                                                    std::int64_t max_size) const noexcept {
  std::array<std::int64_t, max_rank> sides;
  std::fill_n(sides.begin(), rank_, 1);
  std::array<AxisOrder, max_tile_operands> orders;
  for (std::size_t k = 0; k < operands.size(); ++k) orders[k] = order(operands[k].operand);
  const auto side = [&](int axis) -> std::int64_t& {
    return sides[static_cast<std::size_t>(axis)];
  };
  // The axis at which the shortest run ends; -1 if none can be extended.
  const auto shortest_run = [&] {
    int shortest = -1;
    std::int64_t least = 0;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      std::int64_t bytes = operands[k].itemsize;
      for (std::size_t i = 0; i < static_cast<std::size_t>(rank_); ++i) {
        const int axis = orders[k][i];
        bytes *= side(axis);
        if (side(axis) == extent(axis)) continue;
        const bool is_run = stride(axis, operands[k].operand) != 0;
        if (is_run && (shortest < 0 || bytes < least)) {
          shortest = axis;
          least = bytes;
        }
        break;
      }
    }
    return shortest;
  };
  std::int64_t size = 1;
  for (int axis = shortest_run(); axis >= 0; axis = shortest_run()) {
    const std::int64_t others = size / side(axis),
                       next = std::min({2 * side(axis), extent(axis), max_size / others});
    if (next <= side(axis)) break;
    side(axis) = next;
    size = others * next;
  }
  for (int axis = 0; axis < rank_; ++axis) {
    const auto ceil = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
    const std::int64_t parts = ceil(extent(axis), side(axis)), even = ceil(extent(axis), parts),
                       rounded = (even + 7) / 8 * 8;
    side(axis) = parts > 1 && rounded <= side(axis) ? rounded : even;
  }
  return sides;
}

Layout result_layout(const Shape& shape, std::span<const Layout* const> operands) {
  Layout layout = Layout::row_major(shape);
  const int rank = shape.size();
  if (rank < 2 || all_row_major(shape, operands)) return layout;
  int order[max_rank];  // the axes, fastest in memory first
  for (int i = 0; i < rank; ++i) order[i] = rank - 1 - i;
  // The same insertion sort as numpy.nditer (npyiter_find_best_axis_ordering): with several
  // operands the comparison is no strict weak ordering, so another algorithm would give another
  // result.
  for (int i = 1; i < rank; ++i) {
    int position = i;
    for (int j = i - 1; j >= 0; --j) {
      const std::optional<bool> swaps = should_swap(order[i], order[j], rank, operands);
      if (swaps == false) break;
      if (swaps == true) position = j;
    }
    std::rotate(order + position, order + i, order + i + 1);
  }
  std::int64_t stride = 1;
  for (int i = 0; i < rank; ++i) {
    layout.strides[order[i]] = stride;
    stride *= std::max<std::int64_t>(shape[order[i]], 1);
  }
  return layout;
}

Shape broadcast_shape(std::span<const Array* const> arrays) {
  const Array* first = nullptr;
  bool differ = false;
  for (const Array* array : arrays) {
    if (array->rank() == 0) continue;
    if (first == nullptr) first = array;
    differ |= array->shape() != first->shape();
  }
  if (first == nullptr) return {};
  if (!differ) return first->shape();
  std::array<Shape, 4> few;  // operations seldom have more arrays: no allocation
  std::vector<Shape> many(arrays.size() > few.size() ? arrays.size() : 0);
  const std::span<Shape> shapes = many.empty() ? std::span(few).first(arrays.size()) : many;
  std::ranges::transform(arrays, shapes.begin(), [](const Array* array) { return array->shape(); });
  return broadcast_shapes(shapes);
}

}  // namespace spanwise
