// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "selection.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/indexed_layout.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/strided/walk.hpp"

// From an index to the elements that it selects: its parts in order, and checks of index arrays.
namespace spanwise::ops {
namespace {

// The indices as int64; the array itself if it is int64. Throws BoundsError for a dtype that is not
// an integer.
Array as_int64(const Array& indices) {
  if (indices.dtype() == int64) return indices;
  if (!indices.dtype().is_integer() || !indices.dtype().is_computable())
    fail<BoundsError>("Array: arrays used as indices must be of integer (or boolean) type, got ",
                      indices.dtype(), " of shape ", indices.shape(),
                      "; convert them: indices.astype(\"int64\")");
  return astype(indices, int64);
}

}  // namespace

Array on_device_of(const Array& index, const Array& target, bool target_is_written) {
  if (!work_together(index.device(), target.device()))
    return to_device(index, working_device(target.device()));
  return target_is_written && may_share_memory(index, target) ? copy(index) : index;
}

Array usable_indices(const Array& indices, std::int64_t extent, int axis, const Shape& shape,
                     Bounds bounds, const Array& target, bool target_is_written) {
  // Checks the indices before they are broadcast, so each is checked once.
  Array ready = as_int64(indices);
  if (!runs_on_host(ready.device()) && runs_on_host(target.device())) ready = to_device(ready, cpu);
  if (!ready.layout().is_row_major() || !is_item_aligned(ready)) ready = copy(ready);
  const IndexingBackend& backend = indexing_backends[ready.device()];
  if (bounds == Bounds::raise_later && backend.check_later != nullptr && extent > 0) {
    ready = backend.check_later(ready, extent, axis);
  } else if (bounds == Bounds::raise || bounds == Bounds::raise_later) {
    if (const auto wrong = backend.find_outside(ready, extent))
      IndexedLayout::fail_outside(*wrong, axis, shape);
  } else if (extent == 0) {
    fail<BoundsError>("Array: cannot take from axis ", axis, " of shape ", shape,
                      ", which has no elements");
  } else {
    ready = backend.apply_bounds(ready, extent, bounds);
  }
  return on_device_of(ready, target, target_is_written);
}

namespace {

// The number of axes that a part indexes; 0 for an Ellipsis, which takes the remaining ones.
int axes_of(const IndexPart& part) {
  if (const auto* array = std::get_if<Array>(&part))
    return array->dtype().is_bool() ? array->rank() : 1;
  return std::holds_alternative<std::int64_t>(part) || std::holds_alternative<Slice>(part);
}

// Processes a key part by part. As in NumPy, the axes of the positions replace the axis of the
// first index if all indices (arrays, masks and integers) are adjacent, else they come first.
class Selector {
 public:
  Selector(const Array& array, std::span<const IndexPart> key, Bounds bounds, bool writes)
      : layout_(array.layout()), view_(indexed(layout_, key)), bounds_(bounds), writes_(writes) {
    selection_.array = array;
    const bool is_lone_mask = has_lone_mask(key);
    for (const IndexPart& part : key) {
      if (const auto* i = std::get_if<std::int64_t>(&part)) {
        begin_index();
        view_.take(*i);
      } else if (const auto* indices = std::get_if<Array>(&part)) {
        begin_index();
        take(*indices, is_lone_mask);
      } else {
        follows_basic_ = true;
        take_basic(part);
      }
    }
    view_.take_remaining_axes();
  }

  Layout view() const { return view_.layout(); }
  Selection selection() {
    finish();
    return std::move(selection_);
  }

 private:
  static IndexedLayout indexed(const Layout& layout, std::span<const IndexPart> key) {
    int consumed = 0, ellipses = 0;
    for (const IndexPart& part : key) {
      consumed += axes_of(part);
      ellipses += std::holds_alternative<Ellipsis>(part);
    }
    return {layout, consumed, ellipses};
  }

  // Whether a mask is the only array of the key.
  static bool has_lone_mask(std::span<const IndexPart> key) {
    const Array* only = nullptr;
    for (const IndexPart& part : key) {
      const auto* array = std::get_if<Array>(&part);
      if (array == nullptr) continue;
      if (only != nullptr) return false;
      only = array;
    }
    return only != nullptr && only->dtype().is_bool() && only->rank() > 0;
  }

  // Called before an index array, mask or integer. If another part stands between two of these, the
  // axes of the positions come first.
  void begin_index() {
    if (!has_index_) selection_.index_axis = view_.rank();
    if (has_index_ && follows_basic_) indices_first_ = true;
    has_index_ = true;
    follows_basic_ = false;
  }

  void take_basic(const IndexPart& part) {
    if (const auto* slice = std::get_if<Slice>(&part))
      view_.take(*slice);
    else if (std::holds_alternative<NewAxis>(part))
      view_.insert_axis();
    else
      view_.take_ellipsis();
  }

  void take(const Array& array, bool is_lone_mask) {
    if (!array.dtype().is_bool()) {
      parts_.push_back({array, view_.axis(), /*needs_check=*/true});
      view_.skip(1);
      return;
    }
    check_mask(array);
    if (array.rank() == 0) {
      shapes_.push_back(Shape{count_true(array)});
    } else {
      take_mask(array, is_lone_mask);
    }
    view_.skip(array.rank());
  }

  // A mask axis of extent 0 selects nothing and matches any extent, as in NumPy.
  void check_mask(const Array& mask) const {
    for (int i = 0; i < mask.rank(); ++i)
      if (mask.shape()[i] != 0 && mask.shape()[i] != layout_.shape[view_.axis() + i])
        fail<BoundsError>("Array: boolean index did not match indexed array along axis ",
                          view_.axis() + i, "; size of axis is ", layout_.shape[view_.axis() + i],
                          " but size of corresponding boolean axis is ", mask.shape()[i],
                          " (array ", layout_.shape, ", mask ", mask.shape(), ")");
  }

  void take_mask(const Array& mask, bool is_lone) {
    const Array local = is_lone ? on_device_of(mask, selection_.array, writes_) : mask;
    selection_.unique = is_lone;
    if (!is_lone || !indexing_backends[local.device()].takes_masks) {
      const Array positions = positions_of_true(local);
      for (int i = 0; i < mask.rank(); ++i)
        parts_.push_back({positions.index(0, i), view_.axis() + i, /*needs_check=*/false});
      return;
    }
    selection_.mask_strides = Strides(mask.rank());
    for (int i = 0; i < mask.rank(); ++i)
      selection_.mask_strides[i] = layout_.strides[view_.axis() + i];
    shapes_.push_back(Shape{count_true(local)});
    selection_.mask = local;
  }

  void finish() {
    selection_.offset = view_.offset();
    selection_.rank = view_.rank();
    for (int axis = 0; axis < view_.rank(); ++axis)
      selection_.basic[static_cast<std::size_t>(axis)] = {view_.extent(axis), view_.stride(axis)};
    if (indices_first_) selection_.index_axis = 0;
    for (const BroadcastIndex& part : parts_) shapes_.push_back(part.array.shape());
    selection_.positions = common_shape();
    if (selection_.rank + selection_.positions.size() > max_rank)
      fail<LayoutError>("Array: the index makes more than ", max_rank, " dimensions");
    selection_.position_strides = Strides(selection_.positions.size());
    const bool has_positions = Layout::row_major(selection_.positions).size() > 0;
    selection_.indices.reserve(parts_.size());
    for (const BroadcastIndex& part : parts_) {
      const std::int64_t extent = layout_.shape[part.axis];
      // As in NumPy, indices are not checked if the broadcast shape is empty.
      const Array ready = part.needs_check && has_positions
                              ? usable_indices(part.array, extent, part.axis, layout_.shape,
                                               bounds_, selection_.array, writes_)
                              : on_device_of(as_int64(part.array), selection_.array, writes_);
      selection_.indices.push_back(
          {ready.shape() == selection_.positions ? ready : ready.broadcast_to(selection_.positions),
           extent, layout_.strides[part.axis]});
    }
  }

  Shape common_shape() const {
    if (shapes_.size() == 1) return shapes_.front();
    try {
      return broadcast_shapes(shapes_);
    } catch (const LayoutError&) {
      std::string list;
      for (const Shape& shape : shapes_) list += text(list.empty() ? "" : " ", shape);
      fail<BoundsError>(
          "Array: shape mismatch: indexing arrays could not be broadcast together with shapes ",
          list);
    }
  }

  struct BroadcastIndex {
    Array array;
    int axis;
    bool needs_check;
  };

  const Layout& layout_;
  IndexedLayout view_;
  Bounds bounds_;
  bool writes_;
  Selection selection_;
  std::vector<BroadcastIndex> parts_;
  std::vector<Shape> shapes_;
  bool has_index_ = false, follows_basic_ = false, indices_first_ = false;
};

}  // namespace

Shape Selection::result_shape() const {
  Shape shape(rank + positions.size());
  std::int64_t* next = shape.begin();
  for (int i = 0; i < index_axis; ++i) *next++ = basic[static_cast<std::size_t>(i)].extent;
  next = std::copy(positions.begin(), positions.end(), next);
  for (int i = index_axis; i < rank; ++i) *next++ = basic[static_cast<std::size_t>(i)].extent;
  return shape;
}

Selection select(const Array& array, std::span<const IndexPart> key, Bounds bounds, bool writes) {
  return Selector(array, key, bounds, writes).selection();
}

Array view_by(const Array& array, std::span<const IndexPart> key) {
  return array.with_layout(Selector(array, key, Bounds::raise, false).view());
}

Selection select_along(const Array& array, const Array& indices, int axis, bool writes) {
  const Layout& layout = array.layout();
  if (indices.rank() != layout.rank())
    fail<LayoutError>(
        "take_along_axis: indices and array must have the same number of "
        "dimensions, got shapes ",
        indices.shape(), " and ", layout.shape);
  Selection selection;
  selection.array = array;
  selection.offset = layout.offset;
  selection.positions = indices.shape();
  selection.position_strides = Strides(layout.rank());
  for (int i = 0; i < layout.rank(); ++i) {
    if (i == axis) continue;
    const std::int64_t extent = layout.shape[i];
    std::int64_t& common = selection.positions[i];
    if (extent != common && extent != 1 && common != 1)
      fail<BoundsError>(
          "take_along_axis: shape mismatch: indexing arrays could not be broadcast "
          "together: indices ",
          indices.shape(), " and array ", layout.shape, " along axis ", axis);
    if (extent != 1) {
      common = extent;
      selection.position_strides[i] = layout.strides[i];
    }
  }
  const std::int64_t extent = layout.shape[axis];
  const Array ready =
      Layout::row_major(selection.positions).size() > 0
          ? usable_indices(indices, extent, axis, layout.shape, Bounds::raise, array, writes)
          : on_device_of(as_int64(indices), array, writes);
  selection.indices.push_back(
      {ready.broadcast_to(selection.positions), extent, layout.strides[axis]});
  return selection;
}

}  // namespace spanwise::ops
