// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "indices.hpp"

#include "backend.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/core/indexed_layout.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::ops {
Bounds bounds_from(std::string_view mode) {
  if (mode == "raise") return Bounds::raise;
  if (mode == "wrap") return Bounds::wrap;
  if (mode == "clip") return Bounds::clip;
  fail<ArgumentError>("mode: expected \"raise\", \"wrap\" or \"clip\", got \"", mode, "\"");
}

Array as_int64(const Array& indices) {
  if (indices.dtype() == int64) return indices;
  if (!indices.dtype().is_integer() || !indices.dtype().is_computable())
    fail<BoundsError>("Array: arrays used as indices must be of integer (or boolean) type, got ",
                      indices.dtype(), " of shape ", indices.shape(),
                      "; convert them: indices.astype(\"int64\")");
  return astype(indices, int64);
}

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
  if (bounds == Bounds::raise) {
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

void await_all(const Selection& selection, const Array& value, MoveDirection direction) {
  order_host_use(selection.array, direction == MoveDirection::write);
  order_host_use(value, direction == MoveDirection::read);
  for (const IndexArray& indices : selection.indices) order_host_use(indices.array, false);
}

void move(const Selection& selection, const Array& value, MoveDirection direction) {
  indexing_backends[selection.array.device()].move(selection, value, direction);
}

void check_writable(const Array& array) {
  if (array.readonly())
    fail<ReadOnlyError>("Array: assignment destination is read-only: ", array,
                        "; assign to a copy: a.copy()");
}

Array broadcast_value(const Selection& selection, Array value) {
  const Array& target = selection.array;
  const Shape shape = selection.result_shape();
  while (value.rank() > shape.size() && value.shape()[0] == 1) value = value.squeeze(0);
  if (value.shape() != shape) {
    try {
      (void)value.broadcast_to(shape);
    } catch (const LayoutError&) {
      if (selection.unique && shape.size() == 1)
        fail<LayoutError>("Array: NumPy boolean array indexing assignment cannot assign ",
                          value.size(), " input values to the ", shape[0],
                          " output values where the mask is true (value ", value.shape(), ")");
      fail<LayoutError>("Array: shape mismatch: value array of shape ", value.shape(),
                        " could not be broadcast to indexing result of shape ", shape);
    }
  }
  value = on_device_of(value, target, /*target_is_written=*/true);
  if (value.dtype() != target.dtype()) value = astype(value, target.dtype());
  return value.shape() == shape ? value : value.broadcast_to(shape);
}

}  // namespace spanwise::ops
