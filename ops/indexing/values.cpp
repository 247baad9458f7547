// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "values.hpp"

#include "backend.hpp"
#include "indices.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/error.hpp"

namespace spanwise::ops {

void await_all(const Selection& selection, const Array& value, Direction direction) {
  order_host_use(selection.array, direction == Direction::write);
  order_host_use(value, direction == Direction::read);
  for (const IndexArray& indices : selection.indices) order_host_use(indices.array, false);
}

void move(const Selection& selection, const Array& value, Direction direction) {
  indexing_backends[selection.array.device()].move(selection, value, direction);
}

void check_writable(const Array& array) {
  if (array.readonly())
    fail<ReadOnlyError>("Array: assignment destination is read-only: ", array,
                        "; assign to a copy: a.copy()");
}

Array fitting_value(const Selection& selection, Array value) {
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
