// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "indexing.hpp"

#include <algorithm>
#include <cstring>

#include "backend.hpp"
#include "cpu/host_loops.hpp"
#include "indices.hpp"
#include "selection.hpp"
#include "simple_index.hpp"
#include "spanwise/core/indexed_layout.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/parallel.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise::ops {
namespace {

Array read(const Selection& selection) {
  const Device device = selection.array.device();
  Array result = empty(selection.result_shape(), selection.array.dtype(), working_device(device));
  move(selection, result, MoveDirection::read);
  return result;
}

void write(const Selection& selection, const Array& value) {
  move(selection, broadcast_value(selection, value), MoveDirection::write);
}

Array as_mask(const Array& array) { return array.dtype().is_bool() ? array : astype(array, bool_); }

// ---- One C-contiguous int64 index array on the host for one axis: the most common case ----

Array read_simple(const SimpleIndex& simple) {
  Array result = empty(simple.result_shape(), simple.array.dtype(), simple.array.device());
  const std::int64_t count = simple.indices.size();
  if (result.size() == 0) {
    if (count > 0)
      (void)usable_indices(simple.indices, simple.extent, simple.axis, simple.array.shape(),
                           Bounds::raise, simple.array, false);
    return result;
  }
  const auto* indices = static_cast<const std::int64_t*>(simple.indices.data());
  auto* from = static_cast<std::byte*>(simple.array.data());
  auto* to = static_cast<std::byte*>(result.data());
  const IndexLoop loop = index_loop(MoveDirection::read, simple.row_bytes);
  const auto read_part = [&](std::int64_t outer, std::int64_t first, std::int64_t last) {
    const std::int64_t done =
        loop(from + outer * simple.outer_step(), indices + first, last - first, simple.extent,
             simple.stride, to + (outer * count + first) * simple.row_bytes, simple.row_bytes,
             simple.row_bytes);
    if (first + done < last)
      IndexedLayout::fail_outside(indices[first + done], simple.axis, simple.array.shape());
  };
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 20) / (simple.row_bytes + 8));
  if (simple.outer == 1) {
    parallel_for(count, grain,
                 [&](std::int64_t first, std::int64_t last) { read_part(0, first, last); });
  } else {
    parallel_for(simple.outer, std::max<std::int64_t>(1, grain / count),
                 [&](std::int64_t first, std::int64_t last) {
                   for (std::int64_t outer = first; outer < last; ++outer)
                     read_part(outer, 0, count);
                 });
  }
  return result;
}

bool try_write_simple(const SimpleIndex& simple, const Array& value) {
  const bool is_one = value.rank() == 0;
  if (simple.outer != 1 || !is_simple_value(simple, value) ||
      (is_one && simple.row_bytes != simple.array.dtype().itemsize()))
    return false;
  const auto* indices = static_cast<const std::int64_t*>(simple.indices.data());
  const std::int64_t count = simple.indices.size();
  if (!all_inside(indices, count, simple.extent)) return false;  // select() reports which
  if (simple.row_bytes > 0)
    index_loop(MoveDirection::write, simple.row_bytes)(
        static_cast<std::byte*>(simple.array.data()), indices, count, simple.extent, simple.stride,
        static_cast<std::byte*>(value.data()), is_one ? 0 : simple.row_bytes, simple.row_bytes);
  return true;
}

}  // namespace

Array index_by(const Array& array, std::span<const IndexPart> key) {
  if (const Array* indices = only_index(key, array)) return read_simple({array, *indices, 0});
  if (const Array* mask = only_mask(key, array)) return read_rows({array, *mask});
  return read(select(array, key, Bounds::raise, /*writes=*/false));
}

void assign_by(const Array& array, std::span<const IndexPart> key, const Array& value) {
  check_writable(array);
  if (const Array* indices = only_index(key, array))
    if (try_write_simple({array, *indices, 0}, value)) return;
  if (const Array* mask = only_mask(key, array))
    if (try_write_rows({array, *mask}, value)) return;
  write(select(array, key, Bounds::raise, /*writes=*/true), value);
}

Array take(const Array& array, const Array& indices, int axis, Bounds bounds) {
  if (bounds == Bounds::raise && SimpleIndex::fits(array, indices) &&
      array.rank() - 1 + indices.rank() <= max_rank)
    return read_simple({array, indices, axis});
  std::vector<IndexPart> key(static_cast<std::size_t>(axis), Slice{});
  key.emplace_back(indices.dtype().is_bool() ? astype(indices, int64) : indices);
  return read(select(array, key, bounds, /*writes=*/false));
}

Array take_small(const Array& vector, const void* indices, const Shape& shape) {
  Array result = empty(shape, vector.dtype(), vector.device());
  const std::int64_t item = vector.dtype().itemsize(), extent = vector.shape()[0];
  const std::int64_t count = result.size();
  const auto* index = static_cast<const std::int64_t*>(indices);
  const std::int64_t done = index_loop(MoveDirection::read, item)(
      static_cast<std::byte*>(vector.data()), index, count, extent, vector.strides()[0] * item,
      static_cast<std::byte*>(result.data()), item, item);
  if (done < count) {
    std::int64_t wrong;
    std::memcpy(&wrong, index + done, sizeof wrong);
    IndexedLayout::fail_outside(wrong, 0, vector.shape());
  }
  return result;
}

void put(const Array& array, const Array& indices, const Array& values, Bounds bounds) {
  check_writable(array);
  if (values.size() == 0 || indices.size() == 0) return;
  const Array flat_indices =
      reshape(indices.dtype().is_bool() ? astype(indices, int64) : indices, {-1});
  const IndexPart key[] = {flat_indices};
  const std::int64_t count = flat_indices.size(), value_count = values.size();
  Array value = reshape(values, {-1});
  if (value_count > count) {
    value = value.slice(0, {0, count, 1});
  } else if (value_count < count && value_count > 1) {
    const std::int64_t times = (count + value_count - 1) / value_count;
    value =
        reshape(contiguous(value.broadcast_to({times, value_count})), {-1}).slice(0, {0, count, 1});
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
  return indexing_backends[array.device()].count_true(as_mask(array));
}

Array positions_of_true(const Array& array) {
  return indexing_backends[array.device()].positions_of_true(as_mask(array));
}

}  // namespace spanwise::ops
