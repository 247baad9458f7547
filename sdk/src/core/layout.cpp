// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/core/layout.hpp"

#include <algorithm>
#include <array>
#include <ostream>

#include "core/checked_int.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise {
namespace {

// Computes the strides and checks the shape in one pass, since every new array does both.
template <bool row_major>
Layout dense(const Shape& shape) {
  const int rank = shape.size();
  if (rank > max_rank) core::check_shape(shape);
  Layout layout{shape, Strides(rank)};
  const std::int64_t* extents = layout.shape.data();
  std::int64_t* strides = layout.strides.data();
  std::int64_t step = 1;
  bool fits = true;
  for (int i = 0; i < rank; ++i) {
    const int axis = row_major ? rank - 1 - i : i;
    const std::int64_t extent = extents[axis];
    strides[axis] = step;
    // As in NumPy, an extent of 0 does not make the other strides 0.
    if (extent != 0) fits &= extent > 0 && !__builtin_mul_overflow(step, extent, &step);
  }
  if (!fits) [[unlikely]]
    core::check_shape(shape);  // throws
  return layout;
}

template <bool row_major>
bool is_dense(const Layout& layout) noexcept {
  const int rank = layout.rank();
  const std::int64_t *extents = layout.shape.data(), *strides = layout.strides.data();
  std::int64_t step = 1;
  for (int i = 0; i < rank; ++i) {
    const int axis = row_major ? rank - 1 - i : i;
    if (extents[axis] != 1 && strides[axis] != step) return layout.size() == 0;
    step *= extents[axis];
  }
  return true;
}

}  // namespace

void core::check_shape(const Shape& shape) {
  if (shape.size() > max_rank)
    fail<LayoutError>("shape: ", shape.size(), " axes; expected at most ", max_rank);
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0)
      fail<LayoutError>("shape ", shape, ": negative extent ", extent, "; expected 0 or more");
    // Extents of 0 are skipped, since strides are products of the others.
    const bool fits = extent == 0 || !__builtin_mul_overflow(size, extent, &size);
    if (!fits)
      fail<LayoutError>("shape ", shape, ": the number of elements does not fit in 63 bits");
  }
}

Layout Layout::row_major(const Shape& shape) { return dense<true>(shape); }

Layout Layout::column_major(const Shape& shape) { return dense<false>(shape); }

Layout Layout::packed(const Shape& extents) const {
  if (extents.size() != rank())
    fail<LayoutError>("layout: shape ", extents, " in the order of ", *this, "; expected ", rank(),
                      " axes");
  Layout layout = row_major(extents);
  if (is_row_major()) return layout;
  // Longest stride first; an insertion sort, which is stable and fast for few axes.
  std::array<int, max_rank> order;
  for (int axis = 0; axis < rank(); ++axis) {
    int position = axis;
    for (; position > 0; --position) {
      const int before = order[static_cast<std::size_t>(position - 1)];
      if (core::magnitude(strides[before]) >= core::magnitude(strides[axis])) break;
      order[static_cast<std::size_t>(position)] = before;
    }
    order[static_cast<std::size_t>(position)] = axis;
  }
  std::int64_t step = 1;
  for (int position = rank() - 1; position >= 0; --position) {
    const int axis = order[static_cast<std::size_t>(position)];
    layout.strides[axis] = step;
    step *= std::max<std::int64_t>(extents[axis], 1);
  }
  return layout;
}

bool Layout::is_row_major() const noexcept { return is_dense<true>(*this); }

bool Layout::is_column_major() const noexcept { return is_dense<false>(*this); }

std::pair<std::int64_t, std::int64_t> Layout::offset_range() const noexcept {
  // Each bound only grows in one direction, so a saturated one stays outside every storage.
  std::int64_t lowest = offset, highest = offset;
  for (int axis = 0; axis < rank(); ++axis) {
    if (shape[axis] == 0) return {0, -1};
    const std::int64_t reach = core::saturating_multiply(shape[axis] - 1, strides[axis]);
    std::int64_t& bound = reach < 0 ? lowest : highest;
    bound = core::saturating_add(bound, reach);
  }
  return {lowest, highest};
}

bool Layout::may_overlap_itself() const {
  struct StridedExtent {
    std::int64_t step, extent;
  };
  std::array<StridedExtent, max_rank> axes;
  int count = 0;
  for (int axis = 0; axis < rank(); ++axis) {
    if (shape[axis] == 0) return false;
    if (shape[axis] > 1) axes[count++] = {core::magnitude(strides[axis]), shape[axis]};
  }
  std::sort(axes.begin(), axes.begin() + count,
            [](const StridedExtent& a, const StridedExtent& b) { return a.step < b.step; });
  // No overlap where the stride of each axis exceeds the reach of all axes with smaller strides.
  std::int64_t reach = 0;
  for (int i = 0; i < count; ++i) {
    if (axes[i].step <= reach) return true;
    reach =
        core::saturating_add(reach, core::saturating_multiply(axes[i].extent - 1, axes[i].step));
  }
  return false;
}

int Layout::normalise_axis(std::int64_t axis) const {
  const bool is_inside = axis >= -rank() && axis < rank();
  if (!is_inside)
    fail<AxisError>("axis ", axis, " of an array of ", rank(), " axes with shape ", shape,
                    "; expected ", -rank(), " to ", rank() - 1);
  return static_cast<int>(axis < 0 ? axis + rank() : axis);
}

std::ostream& operator<<(std::ostream& out, const Layout& layout) {
  return out << "shape " << layout.shape << ", strides " << layout.strides << ", offset "
             << layout.offset;
}

std::ostream& print_tuple(std::ostream& out, std::span<const std::int64_t> values) {
  out << '(';
  for (std::size_t i = 0; i < values.size(); ++i) out << (i > 0 ? ", " : "") << values[i];
  return out << (values.size() == 1 ? ",)" : ")");
}

}  // namespace spanwise
