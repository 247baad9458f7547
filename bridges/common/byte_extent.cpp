// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "byte_extent.hpp"

#include <algorithm>

#include "spanwise/core/error.hpp"
#include "strides.hpp"

namespace spanwise {
namespace bridges {
namespace {

// Bytes of the unit of a byte swap: a number, or each half of a complex number; 1 for elements
// narrower than a byte.
int swapped_unit(DType dtype) {
  return std::max(dtype.bits() / 8 / (dtype.is_complex() ? 2 : 1), 1);
}

[[noreturn]] void fail_overflow(const ForeignMemory& memory) {
  fail<BridgeError>("bridge: memory of ", memory.dtype, " with shape ", memory.shape,
                    " and strides ", memory.byte_strides,
                    " bytes does not fit in 63 bits; the producer described it wrongly");
}

std::int64_t checked_size(const ForeignMemory& memory) {
  std::int64_t elements = 1;
  bool empty = false;
  for (const std::int64_t extent : memory.shape) {
    if (extent < 0)
      fail<BridgeError>("bridge: negative extent in shape ", memory.shape,
                        "; the producer described it wrongly");
    empty |= extent == 0;
    if (extent != 0 && __builtin_mul_overflow(elements, extent, &elements)) fail_overflow(memory);
  }
  std::int64_t bytes;
  if (__builtin_mul_overflow(elements, memory.dtype.itemsize(), &bytes)) fail_overflow(memory);
  return empty ? 0 : elements;
}

}  // namespace

ByteExtent byte_extent_of(const ForeignMemory& memory) {
  if (!memory.row_major && memory.byte_strides.size() != memory.shape.size())
    fail<BridgeError>("bridge: shape ", memory.shape, " came with strides ", memory.byte_strides,
                      "; expected one stride for each extent");
  ByteExtent covered;
  covered.size = checked_size(memory);
  if (covered.size == 0) return covered;
  if (memory.data == nullptr)
    fail<BridgeError>("bridge: null address for shape ", memory.shape,
                      "; only an array without elements may have one");
  Reach reach{.highest = memory.dtype.itemsize() * (memory.row_major ? covered.size : 1)};
  for (int axis = 0; axis < memory.byte_strides.size(); ++axis)
    if (!reach.try_add(memory.shape[axis], memory.byte_strides[axis])) fail_overflow(memory);
  std::int64_t bytes;
  const auto address = reinterpret_cast<std::uint64_t>(memory.data);
  const bool below = reach.lowest < 0 && address < -static_cast<std::uint64_t>(reach.lowest);
  if (below || __builtin_sub_overflow(reach.highest, reach.lowest, &bytes)) fail_overflow(memory);
  covered.lowest = static_cast<std::byte*>(memory.data) + reach.lowest;
  covered.bytes = static_cast<std::size_t>(bytes);
  covered.first = -reach.lowest;
  return covered;
}

Layout layout_of(const ForeignMemory& memory, const ByteExtent& covered) {
  if (memory.row_major || covered.size == 0) return Layout::row_major(memory.shape);
  const ItemSize item(memory.dtype.itemsize());
  Layout layout{memory.shape, memory.byte_strides, item.to_elements(covered.first)};
  for (int axis = 0; axis < layout.rank(); ++axis) {
    std::int64_t& stride = layout.strides[axis];
    // The stride of an extent of 1 is unused and may be any value.
    stride = item.divides(stride) ? item.to_elements(stride) : 1;
  }
  return layout;
}

Shape byte_shape_of(const ForeignMemory& memory) {
  const int item = memory.dtype.itemsize(), unit = swapped_unit(memory.dtype);
  Shape shape = memory.shape;
  if (item != unit) shape = shape.inserted(shape.size(), item / unit);
  return shape.inserted(shape.size(), unit);
}

Layout byte_layout_of(const ForeignMemory& memory, const ByteExtent& covered) {
  const Shape shape = byte_shape_of(memory);
  if (covered.size == 0) return Layout::row_major(shape);
  const int item = memory.dtype.itemsize(), unit = swapped_unit(memory.dtype);
  Strides strides(shape.size());
  std::int64_t step = item;  // C order if the producer gives no strides
  for (int axis = memory.shape.size() - 1; axis >= 0; --axis) {
    strides[axis] = memory.row_major ? step : memory.byte_strides[axis];
    step *= memory.shape[axis];
  }
  if (item != unit) strides[shape.size() - 2] = unit;
  strides[shape.size() - 1] = memory.byte_swapped ? -1 : 1;
  return {shape, strides, covered.first + (memory.byte_swapped ? unit - 1 : 0)};
}

std::optional<ShareBlocker> find_blocker(const ForeignMemory& memory, const ByteExtent& covered) {
  if (covered.size == 0) return std::nullopt;
  const ItemSize item(memory.dtype.itemsize());
  if (memory.byte_swapped && swapped_unit(memory.dtype) > 1) {
    return ShareBlocker{
        text("its elements (", memory.dtype, ") have the other byte order"),
        "allow a copy (copy=None, copyif=True), or convert it to native byte order"};
  }
  for (int axis = 0; axis < memory.byte_strides.size(); ++axis) {
    if (item.divides(memory.byte_strides[axis]) || memory.shape[axis] == 1) continue;
    return ShareBlocker{
        text("a stride of ", memory.byte_strides[axis], " bytes on axis ", axis,
             " is no multiple of the ", memory.dtype.itemsize(), " bytes of ", memory.dtype),
        "allow a copy (copy=None, copyif=True), or copy it to packed memory"};
  }
  const std::int64_t alignment = alignment_of(memory.dtype, memory.device);
  if ((reinterpret_cast<std::uintptr_t>(memory.data) &
       static_cast<std::uintptr_t>(alignment - 1)) != 0) {
    return ShareBlocker{text("its address is no multiple of the ", alignment, " bytes that ",
                             memory.dtype, " is aligned to"),
                        "allow a copy (copy=None, copyif=True), or copy it to aligned memory"};
  }
  return std::nullopt;
}

}  // namespace bridges

std::optional<ShareBlocker> find_share_blocker(const ForeignMemory& memory) {
  return bridges::find_blocker(memory, bridges::byte_extent_of(memory));
}

}  // namespace spanwise
