// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "foreign_window.hpp"

#include <algorithm>
#include <bit>

#include "spanwise/error.hpp"

namespace spanwise {
namespace bridges {
namespace {

// Division by the element size. Nearly all sizes are powers of two, for which a shift takes a tenth
// of the time of a division.
class ItemSize {
 public:
  explicit ItemSize(DType dtype) noexcept
      : bytes_(dtype.itemsize()),
        is_power_(std::has_single_bit(static_cast<unsigned>(bytes_))),
        shift_(std::countr_zero(static_cast<unsigned>(bytes_))) {}
  bool divides(std::int64_t stride) const noexcept {
    return is_power_ ? (stride & (bytes_ - 1)) == 0 : stride % bytes_ == 0;
  }
  /// `stride` must be a multiple.
  std::int64_t into(std::int64_t stride) const noexcept {
    return is_power_ ? stride >> shift_ : stride / bytes_;
  }

 private:
  std::int64_t bytes_;
  bool is_power_;
  int shift_;
};

// The unit of a byte swap: a number, or each half of a complex number; 1 for elements narrower than
// a byte.
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

ByteExtent span_of(const ForeignMemory& memory) {
  if (!memory.row_major && memory.byte_strides.size() != memory.shape.size())
    fail<BridgeError>("bridge: shape ", memory.shape, " came with strides ", memory.byte_strides,
                      "; expected one stride for each extent");
  ByteExtent span;
  span.size = checked_size(memory);
  if (span.size == 0) return span;
  if (memory.data == nullptr)
    fail<BridgeError>("bridge: null address for shape ", memory.shape,
                      "; only an array without elements may have one");
  std::int64_t lowest = 0, highest = memory.dtype.itemsize();
  if (memory.row_major) highest *= span.size;
  for (int axis = 0; axis < memory.byte_strides.size(); ++axis) {
    std::int64_t reach;
    std::int64_t& bound = memory.byte_strides[axis] < 0 ? lowest : highest;
    if (__builtin_mul_overflow(memory.byte_strides[axis], memory.shape[axis] - 1, &reach) ||
        __builtin_add_overflow(bound, reach, &bound)) {
      fail_overflow(memory);
    }
  }
  std::int64_t bytes;
  const auto address = reinterpret_cast<std::uint64_t>(memory.data);
  const bool below = lowest < 0 && address < -static_cast<std::uint64_t>(lowest);
  if (below || __builtin_sub_overflow(highest, lowest, &bytes)) fail_overflow(memory);
  span.lowest = static_cast<std::byte*>(memory.data) + lowest;
  span.bytes = static_cast<std::size_t>(bytes);
  span.first = -lowest;
  return span;
}

Layout layout_of(const ForeignMemory& memory, const ByteExtent& span) {
  if (memory.row_major || span.size == 0) return Layout::row_major(memory.shape);
  const ItemSize item(memory.dtype);
  Layout layout{memory.shape, memory.byte_strides, item.into(span.first)};
  for (int axis = 0; axis < layout.rank(); ++axis) {
    std::int64_t& stride = layout.strides[axis];
    // The stride of an extent of 1 is unused and may be any value.
    stride = item.divides(stride) ? item.into(stride) : 1;
  }
  return layout;
}

Shape byte_shape_of(const ForeignMemory& memory) {
  const int item = memory.dtype.itemsize(), unit = swapped_unit(memory.dtype);
  Shape shape = memory.shape;
  if (item != unit) shape = shape.inserted(shape.size(), item / unit);
  return shape.inserted(shape.size(), unit);
}

Layout byte_layout_of(const ForeignMemory& memory, const ByteExtent& span) {
  const Shape shape = byte_shape_of(memory);
  if (span.size == 0) return Layout::row_major(shape);
  const int item = memory.dtype.itemsize(), unit = swapped_unit(memory.dtype);
  Strides strides(shape.size());
  std::int64_t step = item;  // C order if the producer gives no strides
  for (int axis = memory.shape.size() - 1; axis >= 0; --axis) {
    strides[axis] = memory.row_major ? step : memory.byte_strides[axis];
    step *= memory.shape[axis];
  }
  if (item != unit) strides[shape.size() - 2] = unit;
  strides[shape.size() - 1] = memory.byte_swapped ? -1 : 1;
  return {shape, strides, span.first + (memory.byte_swapped ? unit - 1 : 0)};
}

std::optional<ShareBlocker> find_blocker(const ForeignMemory& memory, const ByteExtent& span) {
  if (span.size == 0) return std::nullopt;
  const ItemSize item(memory.dtype);
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
  return bridges::find_blocker(memory, bridges::span_of(memory));
}

}  // namespace spanwise
