// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bitset>
#include <optional>
#include <string>

#include "core/checked_int.hpp"
#include "core/string_utils.hpp"
#include "spanwise/core/indexed_layout.hpp"
#include "spanwise/core/layout.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise {
namespace {

// Adds `steps` strides to the offset. A view of size 0 keeps its offset: its first element would
// lie outside the storage.
void move_start(Layout& view, std::int64_t steps, std::int64_t stride) noexcept {
  if (view.size() != 0) view.offset += steps * stride;
}

}  // namespace

// Python's rule for slices (documentation of slice.indices): negative bounds count from the end and
// are then clamped to the axis; for negative steps the limits are n - 1 and -1.
SliceRange resolve(const Slice& slice, std::int64_t n) {
  const std::int64_t step = slice.step.value_or(1);
  if (step == 0) fail<ArgumentError>("slice: step 0; expected a positive or negative step");
  const std::int64_t first = step > 0 ? 0 : -1, last = step > 0 ? n : n - 1;
  const auto clamped = [&](const std::optional<std::int64_t>& bound, std::int64_t default_bound) {
    if (!bound) return default_bound;
    return *bound < 0 ? std::max(core::saturating_add(*bound, n), first) : std::min(*bound, last);
  };
  const std::int64_t start = clamped(slice.start, step > 0 ? first : last);
  const std::int64_t stop = clamped(slice.stop, step > 0 ? last : first);
  const std::int64_t span = step > 0 ? stop - start : start - stop;
  return {start, span <= 0 ? 0 : (span - 1) / core::magnitude(step) + 1, step};
}

void IndexedLayout::fail_outside(std::int64_t index, int axis, const Shape& shape) {
  fail<BoundsError>("Array: index ", index, " is out of bounds for axis ", axis, " with size ",
                    shape[axis], "; it is outside axis ", axis, " of shape ", shape);
}

void IndexedLayout::fail_rank() {
  fail<BoundsError>("Array: the index makes more than ", max_rank, " dimensions");
}

void IndexedLayout::fail_parts(int consumed, int ellipses) const {
  if (ellipses > 1)
    fail<BoundsError>("Array: an index can only have a single ellipsis ('...'), got ", ellipses);
  fail<BoundsError>("Array: too many indices for array: array is ", source_.rank(),
                    "-dimensional, but ", consumed, " were indexed; its shape is ", source_.shape);
}

Layout Layout::index(int axis, std::int64_t i) const {
  axis = normalise_axis(axis);
  const std::int64_t n = shape[axis];
  if (i < -n || i >= n) [[unlikely]] {
    if (n <= 0)
      fail<BoundsError>("index ", i, " on axis ", axis, " of shape ", shape,
                        ", which has no elements");
    fail<BoundsError>("index ", i, " on axis ", axis, " of shape ", shape, "; expected ", -n,
                      " to ", n - 1);
  }
  if (rank() == 1) return {Shape{}, Strides{}, offset + (i < 0 ? i + n : i) * strides[0]};
  Layout view{shape.erased(axis), strides.erased(axis), offset};
  move_start(view, i < 0 ? i + n : i, strides[axis]);
  return view;
}

Layout Layout::slice(int axis, const Slice& range) const {
  axis = normalise_axis(axis);
  const SliceRange resolved = resolve(range, shape[axis]);
  Layout view = *this;
  view.shape[axis] = resolved.extent;
  // The product overflows only where the view has no second element.
  if (__builtin_mul_overflow(strides[axis], resolved.step, &view.strides[axis]))
    view.strides[axis] = 0;
  move_start(view, resolved.start, strides[axis]);
  return view;
}

Layout Layout::expand(int axis) const {
  const bool is_inside = axis >= -rank() - 1 && axis <= rank();
  if (!is_inside)
    fail<LayoutError>("expand: axis ", axis, " of an array of ", rank(), " axes; expected ",
                      -rank() - 1, " to ", rank());
  if (rank() >= max_rank)
    fail<LayoutError>("expand: the array has ", rank(), " axes already, the most there can be");
  if (axis < 0) axis += rank() + 1;
  return {shape.inserted(axis, 1), strides.inserted(axis, 0), offset};
}

Layout Layout::squeeze(int axis) const {
  axis = normalise_axis(axis);
  if (shape[axis] != 1)
    fail<LayoutError>("squeeze: axis ", axis, " of shape ", shape, " has extent ", shape[axis],
                      "; expected 1");
  return {shape.erased(axis), strides.erased(axis), offset};
}

Layout Layout::permute(std::span<const int> axes) const {
  if (axes.size() != static_cast<std::size_t>(rank()))
    fail<LayoutError>("permute: ", axes.size(), " axes given for shape ", shape, "; expected ",
                      rank());
  Layout view{Shape(rank()), Strides(rank()), offset};
  std::bitset<max_rank> seen;
  for (int i = 0; i < rank(); ++i) {
    const int axis = normalise_axis(axes[static_cast<std::size_t>(i)]);
    if (seen[static_cast<std::size_t>(axis)])
      fail<LayoutError>("permute: axis ", axis, " given twice; expected each axis once");
    seen.set(static_cast<std::size_t>(axis));
    view.shape[i] = shape[axis];
    view.strides[i] = strides[axis];
  }
  return view;
}

Layout Layout::transpose() const {
  Layout view = *this;
  std::ranges::reverse(view.shape);
  std::ranges::reverse(view.strides);
  return view;
}

Layout Layout::broadcast_to(const Shape& target) const {
  if (target == shape) return *this;
  core::check_shape(target);
  const int added = target.size() - rank();
  if (added < 0)
    fail<LayoutError>("broadcast: shape ", shape, " has more axes than ", target,
                      "; expected at most as many");
  Layout view{target, Strides(target.size()), offset};
  for (int axis = added; axis < target.size(); ++axis) {
    const std::int64_t extent = shape[axis - added];
    if (extent != target[axis] && extent != 1)
      fail<LayoutError>("broadcast: shape ", shape, " does not broadcast to ", target, ": extent ",
                        extent, " on axis ", axis - added, "; expected 1 or ", target[axis]);
    if (extent == target[axis]) view.strides[axis] = strides[axis - added];
  }
  return view;
}

Layout Layout::diagonal(std::int64_t k, int axis1, int axis2) const {
  if (rank() < 2)
    fail<LayoutError>("diagonal: shape ", shape, " has ", rank(), " axes; expected two or more");
  axis1 = normalise_axis(axis1);
  axis2 = normalise_axis(axis2);
  if (axis1 == axis2)
    fail<LayoutError>("diagonal: axis ", axis1, " given twice; expected two different axes");
  const std::int64_t rows = shape[axis1], columns = shape[axis2];
  const std::int64_t row = k < 0 ? core::magnitude(k) : 0, column = k > 0 ? k : 0;
  const std::int64_t extent = std::max<std::int64_t>(std::min(rows - row, columns - column), 0);

  Layout view{Shape(rank() - 1), Strides(rank() - 1), offset};
  for (int axis = 0, next = 0; axis < rank(); ++axis) {
    if (axis == axis1 || axis == axis2) continue;
    view.shape[next] = shape[axis];
    view.strides[next++] = strides[axis];
  }
  std::int64_t step;
  // As in slice(): overflow implies that there is no second element.
  if (__builtin_add_overflow(strides[axis1], strides[axis2], &step)) step = 0;
  view.shape[rank() - 2] = extent;
  view.strides[rank() - 2] = step;
  move_start(view, row, strides[axis1]);
  move_start(view, column, strides[axis2]);
  return view;
}

namespace {

// The extent to which two extents broadcast; -1 is unknown. An unknown extent beside n > 1 can only
// be 1 or n, so the result is n. nullopt where they do not broadcast.
std::optional<std::int64_t> broadcast_extents(std::int64_t a, std::int64_t b) noexcept {
  if (a == b || b == 1) return a;
  if (a == 1 || a == -1) return b;
  if (b == -1) return a;
  return std::nullopt;
}

}  // namespace

std::string shapes_text(std::span<const Shape> shapes) {
  const auto extent_text = [](std::int64_t extent) {
    return extent == -1 ? "?" : std::to_string(extent);
  };
  return joined(shapes, " and ", [&](const Shape& shape) {
    return text('(', joined(shape, ", ", extent_text), shape.size() == 1 ? ",)" : ")");
  });
}

Shape broadcast_shapes(std::span<const Shape> shapes) {
  int rank = 0;
  for (const Shape& shape : shapes) rank = std::max(rank, shape.size());
  Shape common(rank, 1);
  bool are_known = true;
  for (const Shape& shape : shapes) {
    const int added = rank - shape.size();
    for (int axis = 0; axis < shape.size(); ++axis) {
      std::int64_t& extent = common[axis + added];
      const auto common_extent = broadcast_extents(extent, shape[axis]);
      if (!common_extent)
        fail<LayoutError>("broadcast: shapes ", shapes_text(shapes), " do not fit: ", extent,
                          " and ", shape[axis], " on axis ", axis + added,
                          "; expected equal extents, or 1");
      extent = *common_extent;
      are_known &= shape[axis] != -1;
    }
  }
  if (are_known) core::check_shape(common);
  return common;
}

}  // namespace spanwise
