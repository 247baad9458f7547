// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <optional>
#include <span>
#include <utility>

#include "ordered_owner.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/stream.hpp"

namespace spanwise {
namespace {

// A layout and the elements that it reaches: from `lowest` to `highest`, counted from the first.
struct Window {
  Layout layout;
  std::int64_t lowest = 0, highest = 0;
};

// Fills in axis `axis`, where `size` elements lie in the axes behind it; false where there is
// anything to look at more closely.
bool add_axis(const OpenMemory& memory, int axis, std::int64_t& size, Window& window) noexcept {
  const std::int64_t extent = memory.shape[axis], item = memory.dtype.itemsize();
  std::int64_t stride = size;
  if (memory.strides != nullptr) {
    stride = memory.strides[axis];
    if (!memory.in_elements) {
      const bool divides = (stride & (item - 1)) == 0;
      if (!divides && extent != 1) return false;
      stride = divides ? stride >> std::countr_zero(static_cast<std::uint64_t>(item)) : 1;
    } else if (extent == 1) {
      stride = 1;
    }
  }
  std::int64_t reach;
  if (extent <= 0 || __builtin_mul_overflow(size, extent, &size) ||
      __builtin_mul_overflow(stride, extent - 1, &reach)) {
    return false;
  }
  std::int64_t& bound = reach < 0 ? window.lowest : window.highest;
  if (__builtin_add_overflow(bound, reach, &bound)) return false;
  window.layout.strides[axis] = stride;
  return true;
}

// An element's address has to be a multiple of what one load reads.
bool is_aligned(const OpenMemory& memory, std::int64_t item) noexcept {
  const std::int64_t unit = memory.dtype.is_complex() ? item / 2 : item;
  return (reinterpret_cast<std::uintptr_t>(memory.data) & static_cast<std::uintptr_t>(unit - 1)) ==
         0;
}

}  // namespace

std::optional<Array> share(const OpenMemory& memory, ForeignOwner owner) {
  const std::int64_t item = memory.dtype.itemsize();
  // Not std::has_single_bit, which asks for a population count: a call where none is built in.
  const bool is_power = (item & (item - 1)) == 0;
  if (memory.data == nullptr || memory.rank < 0 || memory.rank > max_rank || !is_power ||
      item * 8 != memory.dtype.bits() || !is_aligned(memory, item)) {
    return std::nullopt;
  }
  const std::span extents(memory.shape, static_cast<std::size_t>(memory.rank));
  Window window{.layout = {Shape(extents), Strides(memory.rank)}};
  std::int64_t size = 1;
  for (int axis = memory.rank - 1; axis >= 0; --axis)
    if (!add_axis(memory, axis, size, window)) return std::nullopt;
  std::int64_t count, bytes, before;
  if (__builtin_sub_overflow(window.highest, window.lowest, &count) ||
      __builtin_add_overflow(count, 1, &count) || __builtin_mul_overflow(count, item, &bytes) ||
      __builtin_mul_overflow(window.lowest, -item, &before) ||
      __builtin_mul_overflow(size, item, &size) ||
      reinterpret_cast<std::uintptr_t>(memory.data) < static_cast<std::uintptr_t>(before)) {
    return std::nullopt;
  }
  window.layout.offset = -window.lowest;
  void* lowest = static_cast<std::byte*>(memory.data) - before;
  std::optional<Stream> home;
  if (!memory.device.is_cpu()) {
    release_passed();
    home = Stream::foreign(memory.device, memory.stream);
    owner = OrderedOwner::around(std::move(owner), home);
  }
  Array array(std::move(owner).adopt(lowest, static_cast<std::size_t>(bytes), memory.device,
                                     memory.readonly),
              std::move(window.layout), memory.dtype);
  if (home) order_use(*home, array, true);
  return array;
}

}  // namespace spanwise
