// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend.hpp"
#include "runtime/copy/copy_steps.hpp"
#include "runtime/element_loops.hpp"
#include "runtime/streams/ordering.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise::runtime {
namespace {

// Calls apply(source, target) on parts in which the target does not overlap itself, in C order:
// where an element is written more than once, the last write wins, as in NumPy.
template <class F>
void in_disjoint_parts(const Array& source, const Array& target, const F& apply) {
  if (!target.layout().may_overlap_itself()) return apply(source, target);
  for (int axis = 0; axis < target.rank(); ++axis) {
    const std::int64_t extent = target.shape()[axis];
    if (target.strides()[axis] != 0 || extent < 2) continue;
    // All writes along this axis go to the same elements; only the last one counts.
    return in_disjoint_parts(source.index(axis, extent - 1), target.index(axis, extent - 1), apply);
  }
  for (std::int64_t i = 0; i < target.shape()[0]; ++i)
    in_disjoint_parts(source.index(0, i), target.index(0, i), apply);
}

// The array as uint8, with one more axis, the last, over the bytes of each element.
Array as_bytes(const Array& array) {
  const int size = array.dtype().itemsize();
  Layout layout = array.layout();
  for (int axis = 0; axis < layout.rank(); ++axis)
    layout.strides[axis] *= layout.shape[axis] > 1 ? size : 0;
  layout.offset *= size;
  layout.shape = layout.shape.inserted(layout.rank(), size);
  layout.strides = layout.strides.inserted(layout.strides.size(), 1);
  return Array(array.storage(), std::move(layout), uint8);
}

}  // namespace

std::pair<Array, Array> as_computable(const Array& source, const Array& target) {
  const DType dtype = source.dtype();
  if (dtype.is_computable()) return {source, target};
  const int bytes = dtype.itemsize();
  const bool has_integer_width =
      dtype.lanes() == 1 && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
  if (!has_integer_width) return {as_bytes(source), as_bytes(target)};
  const DType same_width(DTypeCode::uint, dtype.bits());
  return {source.reinterpret(same_width), target.reinterpret(same_width)};
}

void copy_on_device(const Array& source, const Array& target) {
  StreamState& stream = current_stream(target.device());
  const ElementLoops& loops = element_loops(target.device());
  order_use(stream, source.storage(), /*writes=*/false);
  order_use(stream, target.storage(), /*writes=*/true);
  in_disjoint_parts(source, target,
                    [&](const Array& from, const Array& to) { loops.copy(from, to, stream); });
  after_queueing(stream);
}

void fill_on_device(const Array& target, const Scalar& value) {
  StreamState& stream = current_stream(target.device());
  const ElementLoops& loops = element_loops(target.device());
  order_use(stream, target.storage(), /*writes=*/true);
  in_disjoint_parts(target, target,
                    [&](const Array&, const Array& to) { loops.fill(to, value, stream); });
  after_queueing(stream);
}

}  // namespace spanwise::runtime
