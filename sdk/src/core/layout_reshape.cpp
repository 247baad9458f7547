// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "core/checked_int.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/layout.hpp"

namespace spanwise {
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
    fail<LayoutError>("view: reading ", from, "-byte elements as ", to,
                      "-byte elements needs a last axis of stride 1, got strides ", strides,
                      "; copy to a contiguous array first");
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

}  // namespace spanwise
