// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <bitset>
#include <optional>
#include <ostream>
#include <string>

#include "core/checked_int.hpp"
#include "core/string_utils.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/indexed_layout.hpp"
#include "spanwise/core/layout.hpp"

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

std::string strides_text(const Strides& strides, int itemsize) {
  Strides bytes = strides;
  // Unsigned: refused strides may be beyond the range.
  for (std::int64_t& stride : bytes)
    stride = static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) *
                                       static_cast<std::uint64_t>(itemsize));
  return text(bytes);
}

std::ostream& print_tuple(std::ostream& out, std::span<const std::int64_t> values) {
  out << '(';
  for (std::size_t i = 0; i < values.size(); ++i) out << (i > 0 ? ", " : "") << values[i];
  return out << (values.size() == 1 ? ",)" : ")");
}

namespace {

// Neighbouring axes that one axis with a single stride can replace.
struct MergedAxis {
  std::int64_t extent, stride;
};

// Writes the merged axes of a non-empty layout to `merged`, last axis first; returns their number.
int merge_axes(const Layout& layout, std::array<MergedAxis, max_rank>& merged) noexcept {
  int count = 0;
  for (int axis = layout.rank() - 1; axis >= 0; --axis) {
    const std::int64_t extent = layout.shape[axis], stride = layout.strides[axis];
    if (extent == 1) continue;
    MergedAxis* inner = count > 0 ? &merged[static_cast<std::size_t>(count - 1)] : nullptr;
    if (inner != nullptr && core::saturating_multiply(inner->stride, inner->extent) == stride)
      inner->extent *= extent;
    else
      merged[static_cast<std::size_t>(count++)] = {extent, stride};
  }
  return count;
}

// Splits the merged axes into the axes of `target`, last axis first; nullopt where an axis would
// span two of them.
std::optional<Layout> split_axes(const Layout& layout, Shape&& target) {
  std::array<MergedAxis, max_rank> merged;
  const int count = merge_axes(layout, merged);
  const int rank = target.size();
  std::optional<Layout> result(Layout{std::move(target), Strides(rank), layout.offset});
  const Shape& shape = result->shape;
  // The merged axis that is being split: what is left of its extent, and the next stride.
  std::size_t current = 0;
  std::int64_t left = count > 0 ? merged[0].extent : 1, stride = count > 0 ? merged[0].stride : 1;
  for (int axis = rank - 1; axis >= 0; --axis) {
    const std::int64_t extent = shape[axis];
    if (extent != 1 && left == 1) {
      ++current;  // exists, since the sizes are equal
      left = merged[current].extent;
      stride = merged[current].stride;
    }
    result->strides[axis] = stride;
    if (extent == 1) continue;
    // The most frequent case, which needs no division: the axis takes all that is left.
    const std::int64_t quotient = left == extent ? 1 : left / extent;
    if (quotient * extent != left) return std::nullopt;
    left = quotient;
    stride = core::saturating_multiply(stride, extent);
  }
  return result;
}

}  // namespace

Shape resolve_shape(const Shape& shape, std::int64_t size) {
  int unknown = -1;
  std::int64_t product = 1;
  bool fits = true;
  for (int axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == -1) {
      if (unknown >= 0)
        fail<LayoutError>("reshape: ", shape, " has -1 twice; expected at most one");
      unknown = axis;
      continue;
    }
    if (shape[axis] < 0)
      fail<LayoutError>("reshape: ", shape, " has extent ", shape[axis],
                        "; expected 0 or more, or one -1");
    fits = fits && !__builtin_mul_overflow(product, shape[axis], &product);
  }
  if (unknown < 0) {
    if (!fits || product != size)
      fail<LayoutError>("reshape: ", size, " elements do not fill shape ", shape,
                        "; expected the same number of elements");
    return shape;
  }
  if (!fits || product == 0 || size % product != 0)
    fail<LayoutError>("reshape: ", size, " elements and shape ", shape,
                      " determine no extent for -1",
                      product == 0 && size == 0 ? ", since any extent fits" : "");
  Shape resolved = shape;
  resolved[unknown] = size / product;
  return resolved;
}

std::optional<Layout> Layout::reshape(const Shape& target) const {
  const std::int64_t count = size();
  Shape resolved = resolve_shape(target, count);
  if (count == 0) {
    Layout result = row_major(resolved);
    result.offset = offset;
    return result;
  }
  // The product of the extents is a valid size here, so only the rank is checked.
  if (resolved.size() > max_rank)
    fail<LayoutError>("reshape: ", resolved.size(), " axes; expected at most ", max_rank);
  return split_axes(*this, std::move(resolved));
}

namespace {

// Converts an offset or stride from elements of `from` bytes to elements of `to` bytes.
std::int64_t rescale(std::int64_t elements, int from, int to, const char* quantity) {
  const std::int64_t bytes = core::saturating_multiply(elements, from);
  if (bytes % to != 0)
    fail<LayoutError>("view: ", quantity, " of ", elements, " elements of ", from,
                      " bytes is no multiple of the new ", to,
                      " bytes; copy to a contiguous array first");
  return bytes / to;
}

}  // namespace

Layout Layout::reinterpret(int from, int to) const {
  if (from == to) return *this;
  if (rank() <= 0)
    fail<LayoutError>("view: a 0-d array of ", from, "-byte elements cannot be read as ", to,
                      "-byte elements; expected the same size. Reshape it to (1,) first");
  const int last = rank() - 1;
  const std::int64_t count = shape[last];
  if (count != 1 && size() != 0 && strides[last] != 1)
    fail<LayoutError>(
        "view: reading ", from, "-byte elements as ", to,
        "-byte elements needs neighbouring elements along the last axis, got strides ",
        strides_text(strides, from), "; copy to a contiguous array first");
  if (to <= from && from % to != 0)
    fail<LayoutError>("view: ", to, " bytes do not divide the present element of ", from);
  Layout view = *this;
  std::int64_t bytes;
  if (__builtin_mul_overflow(count, std::int64_t{from}, &bytes))
    fail<LayoutError>("view: shape ", shape, " has too many bytes on its last axis");
  if (bytes % to != 0)
    fail<LayoutError>("view: the last axis has ", bytes, " bytes; expected a multiple of the new ",
                      "element's ", to);
  view.shape[last] = bytes / to;
  view.strides[last] = 1;
  view.offset = size() == 0 ? 0 : rescale(offset, from, to, "an offset");
  for (int axis = 0; axis < last; ++axis) {
    const bool steps = shape[axis] > 1 && size() != 0;
    view.strides[axis] = steps ? rescale(strides[axis], from, to, "a stride") : 0;
  }
  core::check_shape(view.shape);
  return view;
}

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
