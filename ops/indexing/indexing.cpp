// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "indexing.hpp"

#include <algorithm>
#include <utility>

#include "cuda_indices.hpp"
#include "cuda_move.hpp"
#include "host_mask.hpp"
#include "host_move.hpp"
#include "indices.hpp"
#include "selection.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"
#include "spanwise/parallel.hpp"
#include "spanwise/stream.hpp"

namespace spanwise::ops {
namespace {

void move(const Selection& selection, const Array& value, Direction direction) {
  if (selection.array.device().is_cuda()) return move_on_gpu(selection, value, direction);
  const Stream stream = Stream::current(selection.array.device());
  order_use(stream, selection.array, direction == Direction::write);
  order_use(stream, value, direction == Direction::read);
  for (const Indices& indices : selection.indices) order_use(stream, indices.array, false);
  move_on_host(selection, value, direction);
}

Array read(const Selection& selection) {
  const Device device = selection.array.device();
  Array result = empty(selection.result_shape(), selection.array.dtype(),
                       device.is_cuda() ? device : cpu);
  move(selection, result, Direction::read);
  return result;
}

void check_writable(const Array& array) {
  require<ReadOnlyError>(!array.readonly(), "Array: assignment destination is read-only: ", array,
                         "; assign to a copy: a.copy()");
}

// The value as the target's dtype, on its device, in memory of its own, and of the result's shape.
Array fitting_value(const Selection& selection, Array value) {
  const Array& target = selection.array;
  const Shape shape = selection.result_shape();
  while (value.rank() > shape.size() && value.shape()[0] == 1) value = value.squeeze(0);
  if (value.shape() != shape) {
    try {
      (void)value.broadcast_to(shape);
    } catch (const LayoutError&) {
      if (selection.mask && shape.size() == 1)
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

void write(const Selection& selection, const Array& value) {
  move(selection, fitting_value(selection, value), Direction::write);
}

Array as_mask(const Array& array) {
  return array.dtype().is_bool() ? array : astype(array, bool_);
}

Array positions_on_host(const Array& mask) {
  const MaskWalk walk(mask, Strides(mask.rank()), 0, /*keep_axes=*/true);
  const MaskPieces pieces(walk);
  const std::int64_t total = pieces.total();
  Array positions = empty({mask.rank(), total}, int64, cpu);
  auto* rows = static_cast<std::int64_t*>(positions.data());
  const int inner = mask.rank() - 1;
  parallel_for(pieces.count(), 1, [&](std::int64_t first, std::int64_t last) {
    // Found with room to spare, then copied: what is looked at in vain is written to as well.
    std::int64_t found[2048];
    std::int64_t done = pieces.before[static_cast<std::size_t>(first)];
    for_each_stretch(
        walk, first * pieces.length, std::min(walk.size, last * pieces.length),
        [&](const std::byte* bytes, std::int64_t step, std::int64_t n, std::int64_t, std::int64_t,
            const std::int64_t* at) {
          for (std::int64_t i = 0; i < n; i += 2048) {
            const std::int64_t count =
                collect_true(bytes + i * step, step, std::min<std::int64_t>(2048, n - i),
                             inner < 0 ? 0 : at[inner] + i, 1, found);
            for (int axis = 0; axis < inner; ++axis)
              std::fill_n(rows + axis * total + done, count, at[axis]);
            if (inner >= 0) std::copy_n(found, count, rows + inner * total + done);
            done += count;
          }
        });
  });
  return positions;
}

}  // namespace

Array index_by(const Array& array, std::span<const IndexPart> key) {
  return read(select(array, key, Bounds::raise, /*writes=*/false));
}

void assign_by(const Array& array, std::span<const IndexPart> key, const Array& value) {
  check_writable(array);
  write(select(array, key, Bounds::raise, /*writes=*/true), value);
}

Array take(const Array& array, const Array& indices, int axis, Bounds bounds) {
  std::vector<IndexPart> key(static_cast<std::size_t>(axis), Slice{});
  key.emplace_back(indices.dtype().is_bool() ? astype(indices, int64) : indices);
  return read(select(array, key, bounds, /*writes=*/false));
}

void put(const Array& array, const Array& indices, const Array& values, Bounds bounds) {
  check_writable(array);
  if (values.size() == 0 || indices.size() == 0) return;
  const Array places = reshape(indices.dtype().is_bool() ? astype(indices, int64) : indices, {-1});
  const IndexPart key[] = {places};
  const std::int64_t count = places.size(), given = values.size();
  Array value = reshape(values, {-1});
  if (given > count) {
    value = value.slice(0, {0, count, 1});
  } else if (given < count && given > 1) {
    const std::int64_t times = (count + given - 1) / given;
    value = reshape(contiguous(value.broadcast_to({times, given})), {-1}).slice(0, {0, count, 1});
  }
  write(select(array, key, bounds, /*writes=*/true), value);
}

Array take_along(const Array& array, const Array& indices, int axis) {
  return read(select_along(array, indices, axis, /*writes=*/false));
}

void put_along(const Array& array, const Array& indices, int axis, const Array& values) {
  check_writable(array);
  write(select_along(array, indices, axis, /*writes=*/true), values);
}

std::int64_t count_true(const Array& array) {
  const Array mask = as_mask(array);
  if (mask.device().is_cuda()) return count_true_on_gpu(mask);
  order_use(Stream::current(mask.device()), mask, /*writes=*/false);
  return MaskPieces(MaskWalk(mask, Strides(mask.rank()), 0)).total();
}

Array positions_of_true(const Array& array) {
  const Array mask = as_mask(array);
  if (mask.device().is_cuda()) return positions_of_true_on_gpu(mask);
  order_use(Stream::current(mask.device()), mask, /*writes=*/false);
  return positions_on_host(mask);
}

}  // namespace spanwise::ops
