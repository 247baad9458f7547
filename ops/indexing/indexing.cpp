// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <variant>

#include "cpu/index_loops.hpp"
#include "indexing.hpp"
#include "selection.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/indexed_layout.hpp"
#include "spanwise/core/storage.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/parallel.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::ops {
namespace {

// ---- The most common case: one C-contiguous int64 index array on the host, for one axis.

/// Whole slices along `axis` of a C-contiguous array, or elements of a vector with any stride.
struct SimpleIndex {
  const Array& array;
  const Array& indices;
  int axis;
  std::int64_t extent;             ///< of `axis`
  std::int64_t stride, row_bytes;  ///< bytes: the stride of `axis`, and the size of a slice
  std::int64_t outer = 1;          ///< the product of the extents before `axis`

  SimpleIndex(const Array& a, const Array& i, int along)
      : array(a), indices(i), axis(along), extent(a.shape()[along]) {
    row_bytes = a.dtype().itemsize();
    for (int k = axis + 1; k < a.rank(); ++k) row_bytes *= a.shape()[k];
    for (int k = 0; k < axis; ++k) outer *= a.shape()[k];
    stride = a.strides()[axis] * a.dtype().itemsize();
  }

  static bool fits(const Array& array, const Array& indices) noexcept {
    return indices.dtype() == int64 && is_item_aligned(indices) &&
           indices.layout().is_row_major() && is_idle_on_host(indices) && is_idle_on_host(array) &&
           (array.rank() == 1 || array.layout().is_row_major());
  }
  static bool is_idle_on_host(const Array& array) noexcept {
    return array.device().is_cpu() && (!array.storage() || array.storage().uses().none());
  }
  Shape result_shape() const {
    Shape shape(array.rank() - 1 + indices.rank());
    std::int64_t* next = std::copy_n(array.shape().begin(), axis, shape.begin());
    next = std::copy(indices.shape().begin(), indices.shape().end(), next);
    std::copy(array.shape().begin() + axis + 1, array.shape().end(), next);
    return shape;
  }
  /// Bytes from one index of the axes before `axis` to the next.
  std::int64_t outer_step() const { return extent * row_bytes; }
};

/// The index array of `key` if `key` is one array for the first axis that SimpleIndex supports,
/// else null.
const Array* only_index(std::span<const IndexPart> key, const Array& array) {
  if (key.size() != 1 || array.rank() == 0) return nullptr;
  const Array* indices = std::get_if<Array>(&key[0]);
  return indices != nullptr && SimpleIndex::fits(array, *indices) &&
                 array.rank() - 1 + indices->rank() <= max_rank
             ? indices
             : nullptr;
}

/// Whether the value is one element, or needs neither cast nor broadcast, and writing to the array
/// changes neither the value nor the indices.
bool is_simple_value(const SimpleIndex& simple, const Array& value) {
  return value.dtype() == simple.array.dtype() && SimpleIndex::is_idle_on_host(value) &&
         (value.rank() == 0 ||
          (value.layout().is_row_major() && value.shape() == simple.result_shape())) &&
         !may_share_memory(simple.array, value) && !may_share_memory(simple.array, simple.indices);
}

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
  if (simple.outer != 1 || !is_simple_value(simple, value)) return false;
  const auto* indices = static_cast<const std::int64_t*>(simple.indices.data());
  const std::int64_t count = simple.indices.size();
  if (!all_inside(indices, count, simple.extent)) return false;  // select() reports which
  if (simple.row_bytes == 0) return true;
  const std::int64_t row = simple.row_bytes / simple.array.dtype().itemsize();
  const Array source = is_one && row > 1 ? copy(value.broadcast_to({row})) : value;
  index_loop(MoveDirection::write, simple.row_bytes)(
      static_cast<std::byte*>(simple.array.data()), indices, count, simple.extent, simple.stride,
      static_cast<std::byte*>(source.data()), is_one ? 0 : simple.row_bytes, simple.row_bytes);
  return true;
}

// ---- The second common case: a small mask of the first axes.

/// A mask of the first axes of a C-contiguous array on the host. Each true element selects a row of
/// `row_bytes` bytes; there are `count` of them.
struct MaskedRows {
  const Array& array;
  const Array& mask;
  std::int64_t row_bytes, count;

  MaskedRows(const Array& a, const Array& m) : array(a), mask(m), row_bytes(a.dtype().itemsize()) {
    for (int k = m.rank(); k < a.rank(); ++k) row_bytes *= a.shape()[k];
    count = count_true_bytes(static_cast<const std::byte*>(m.data()), m.size());
  }

  static bool fits(const Array& array, const Array& mask) noexcept {
    constexpr std::int64_t small = 1 << 15;
    return mask.dtype().is_bool() && mask.rank() > 0 && mask.rank() <= array.rank() &&
           mask.size() < small && array.nbytes() < 16 * small &&
           SimpleIndex::is_idle_on_host(array) && SimpleIndex::is_idle_on_host(mask) &&
           array.layout().is_row_major() && mask.layout().is_row_major() &&
           std::equal(mask.shape().begin(), mask.shape().end(), array.shape().begin());
  }
  Shape result_shape() const {
    Shape shape(1 + array.rank() - mask.rank());
    shape[0] = count;
    std::copy(array.shape().begin() + mask.rank(), array.shape().end(), shape.begin() + 1);
    return shape;
  }
  /// `step`: bytes from one row of `value` to the next, 0 for a value that is one element.
  void move(std::byte* value, std::int64_t step, MoveDirection direction) const {
    constexpr std::int64_t chunk = 2048;
    std::int64_t offsets[chunk];
    const auto* bytes = static_cast<const std::byte*>(mask.data());
    const MoveLoop loop = move_loop(direction, row_bytes);
    for (std::int64_t i = 0; i < mask.size(); i += chunk) {
      const std::int64_t rows = collect_true(bytes + i, 1, std::min(chunk, mask.size() - i),
                                             i * row_bytes, row_bytes, offsets);
      loop(static_cast<std::byte*>(array.data()), offsets, rows, value, step, row_bytes);
      value += rows * step;
    }
  }
};

/// array[mask].
Array read_rows(const MaskedRows& rows) {
  Array result = empty(rows.result_shape(), rows.array.dtype(), rows.array.device());
  if (result.size() > 0)
    rows.move(static_cast<std::byte*>(result.data()), rows.row_bytes, MoveDirection::read);
  return result;
}

/// array[mask] = value. Returns false, with nothing written, for a value that needs a cast, a
/// broadcast or a copy.
bool try_write_rows(const MaskedRows& rows, const Array& value) {
  const bool is_one = value.rank() == 0;
  const bool fits = is_one ? rows.row_bytes == rows.array.dtype().itemsize()
                           : value.layout().is_row_major() && value.shape() == rows.result_shape();
  if (!fits || value.dtype() != rows.array.dtype() || !SimpleIndex::is_idle_on_host(value) ||
      may_share_memory(rows.array, value) || may_share_memory(rows.array, rows.mask))
    return false;
  if (rows.count > 0 && rows.row_bytes > 0)
    rows.move(static_cast<std::byte*>(value.data()), is_one ? 0 : rows.row_bytes,
              MoveDirection::write);
  return true;
}

/// The mask of `key` if `key` is one mask that MaskedRows supports, else null.
const Array* only_mask(std::span<const IndexPart> key, const Array& array) {
  if (key.size() != 1) return nullptr;
  const Array* mask = std::get_if<Array>(&key[0]);
  return mask != nullptr && MaskedRows::fits(array, *mask) ? mask : nullptr;
}

// ---- Any index.

void check_writable(const Array& array) {
  if (array.readonly())
    fail<ReadOnlyError>("Array: assignment destination is read-only: ", array,
                        "; assign to a copy: a.copy()");
}

// The value cast to the target's dtype, on its device, broadcast to the selection's shape and
// sharing no memory with the target. Throws LayoutError.
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

Array read(const Selection& selection) {
  const Device device = selection.array.device();
  Array result = empty(selection.result_shape(), selection.array.dtype(), working_device(device));
  indexing_backends[device].move(selection, result, MoveDirection::read);
  return result;
}

void write(const Selection& selection, const Array& value) {
  const Array ready = broadcast_value(selection, value);
  indexing_backends[selection.array.device()].move(selection, ready, MoveDirection::write);
}

// array[mask] = value by one masked pass, where all elements along the mask's axes get the same;
// false, with nothing written, for others and for invalid arguments.
bool try_fill_masked(const Array& array, std::span<const IndexPart> key, Array value) {
  const auto fill = indexing_backends[array.device()].fill_masked;
  const Array* mask = key.size() == 1 ? std::get_if<Array>(&key[0]) : nullptr;
  if (fill == nullptr || mask == nullptr || !mask->dtype().is_bool() || array.size() == 0)
    return false;
  const int rest = array.rank() - mask->rank();
  if (mask->rank() == 0 || rest < 0 || !is_item_aligned(array) ||
      !std::equal(mask->shape().begin(), mask->shape().end(), array.shape().begin()))
    return false;
  while (value.rank() > rest && value.shape()[0] == 1) value = value.squeeze(0);
  if (value.rank() > rest) return false;
  for (int i = 1; i <= value.rank(); ++i) {
    const std::int64_t extent = value.shape()[value.rank() - i];
    if (extent != 1 && extent != array.shape()[array.rank() - i]) return false;
  }
  const bool is_number = value.rank() == 0 && runs_on_host(value.device());
  if (is_number)
    order_host_use(value, false);
  else
    value = on_device_of(value, array, /*target_is_written=*/true);
  if (value.dtype() != array.dtype()) value = astype(value, array.dtype());
  if (!is_item_aligned(value)) value = copy(value);
  Array selected = on_device_of(*mask, array, /*target_is_written=*/true);
  Layout layout = selected.layout();
  for (int i = 0; i < rest; ++i) layout = layout.expand(layout.rank());
  selected = selected.with_layout(std::move(layout)).broadcast_to(array.shape());
  fill(array, selected, is_number ? value : value.broadcast_to(array.shape()));
  return true;
}

Array as_mask(const Array& array) { return array.dtype().is_bool() ? array : astype(array, bool_); }

}  // namespace

Bounds bounds_from(std::string_view mode) {
  if (mode == "raise") return Bounds::raise;
  if (mode == "wrap") return Bounds::wrap;
  if (mode == "clip") return Bounds::clip;
  fail<ArgumentError>("mode: expected \"raise\", \"wrap\" or \"clip\", got \"", mode, "\"");
}

Array index_by(const Array& array, std::span<const IndexPart> key, Bounds bounds) {
  if (const Array* indices = only_index(key, array)) return read_simple({array, *indices, 0});
  if (const Array* mask = only_mask(key, array)) return read_rows({array, *mask});
  return read(select(array, key, bounds, /*writes=*/false));
}

void assign_by(const Array& array, std::span<const IndexPart> key, const Array& value,
               Bounds bounds) {
  check_writable(array);
  if (const Array* indices = only_index(key, array))
    if (try_write_simple({array, *indices, 0}, value)) return;
  if (const Array* mask = only_mask(key, array))
    if (try_write_rows({array, *mask}, value)) return;
  if (try_fill_masked(array, key, value)) return;
  write(select(array, key, bounds, /*writes=*/true), value);
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

namespace {

// Whether atomic functions of a GPU can access the elements; complex128 is two doubles.
bool is_aligned(const Array& array) noexcept {
  const DType dtype = array.dtype();
  const int bytes = dtype == complex128 ? 8 : dtype.itemsize();
  return reinterpret_cast<std::uintptr_t>(array.data()) % static_cast<std::uintptr_t>(bytes) == 0;
}

bool try_accumulate_simple(const SimpleIndex& simple, const Array& value, Accumulation how) {
  if (simple.array.rank() != 1 || !is_simple_value(simple, value)) return false;
  const auto* indices = static_cast<const std::int64_t*>(simple.indices.data());
  const std::int64_t count = simple.indices.size();
  const IndexRange kind = classify_indices(indices, count, simple.extent);
  if (kind == IndexRange::outside) return false;  // select() throws for it
  accumulate_loops(simple.array.dtype(), how)
      .elements(static_cast<std::byte*>(simple.array.data()), indices, count, kind, simple.extent,
                simple.stride, static_cast<const std::byte*>(value.data()),
                value.rank() == 0 ? 0 : simple.row_bytes);
  return true;
}

}  // namespace

Accumulation accumulation_from(std::string_view name) {
  static constexpr std::string_view names[] = {"add", "subtract", "multiply", "maximum", "minimum"};
  for (int i = 0; i < 5; ++i)
    if (names[i] == name) return static_cast<Accumulation>(i);
  fail<ArgumentError>(name, ".at: expected add, subtract, multiply, maximum or minimum; if no ",
                      "index is repeated, write a[i] = ", name, "(a[i], b)");
}

void accumulate_by(const Array& array, std::span<const IndexPart> key, const Array& value,
                   Accumulation how, Bounds bounds) {
  check_writable(array);
  (void)accumulate_loops(array.dtype(), how);  // on every device, for its DTypeError
  if (const Array* indices = only_index(key, array))
    if (try_accumulate_simple({array, *indices, 0}, value, how)) return;
  const IndexingBackend& backend = indexing_backends[array.device()];
  if (backend.needs_aligned && !is_aligned(array)) {
    const Array aligned = copy(array);
    accumulate_by(aligned, key, value, how, bounds);
    return copy(aligned, array);
  }
  const Selection selection = select(array, key, bounds, /*writes=*/true);
  Array operand = broadcast_value(selection, value);
  if (backend.needs_aligned && !is_aligned(operand)) operand = copy(operand);
  backend.accumulate(selection, operand, how);
}

}  // namespace spanwise::ops
