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

// The elements that a layout reaches, counted from the first, and how many indices it has.
struct Reach {
  std::int64_t lowest = 0, highest = 0, size = 1;
};

// Strides in elements, and what they reach; false where there is anything to look at more closely.
bool read_strides(const OpenMemory& memory, std::int64_t* strides, Reach& reach) noexcept {
  const std::int64_t unit = memory.in_elements ? 1 : memory.dtype.itemsize();
  const int shift = std::countr_zero(static_cast<std::uint64_t>(unit));
  for (int axis = 0; axis < memory.rank; ++axis) {
    const std::int64_t extent = memory.shape[axis], given = memory.strides[axis];
    const bool divides = (given & (unit - 1)) == 0;
    std::int64_t stride = given >> shift;
    if (extent == 1) {
      // Never used, so it may be anything; in bytes it is kept where it can be, as NumPy shows it.
      if (memory.in_elements || !divides) stride = 1;
    } else if (!divides || extent <= 0) {
      return false;
    }
    strides[axis] = stride;
    std::int64_t step;
    bool overflows = __builtin_mul_overflow(reach.size, extent, &reach.size);
    overflows |= __builtin_mul_overflow(stride, extent - 1, &step);
    std::int64_t& bound = step < 0 ? reach.lowest : reach.highest;
    overflows |= __builtin_add_overflow(bound, step, &bound);
    if (overflows) return false;
  }
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
      item * 8 != memory.dtype.bits() || !is_aligned(memory, item)) [[unlikely]] {
    return std::nullopt;
  }
  const std::span extents(memory.shape, static_cast<std::size_t>(memory.rank));
  Layout layout{Shape(extents), Strides(memory.rank)};
  Reach reach;
  if (!read_strides(memory, layout.strides.data(), reach)) [[unlikely]]
    return std::nullopt;
  std::int64_t count, bytes, before, logical;
  bool overflows = __builtin_sub_overflow(reach.highest, reach.lowest, &count);
  overflows |= __builtin_add_overflow(count, 1, &count);
  overflows |= __builtin_mul_overflow(count, item, &bytes);
  overflows |= __builtin_mul_overflow(reach.lowest, -item, &before);
  overflows |= __builtin_mul_overflow(reach.size, item, &logical);
  if (overflows || reinterpret_cast<std::uintptr_t>(memory.data) <
                       static_cast<std::uintptr_t>(before)) [[unlikely]] {
    return std::nullopt;
  }
  layout.offset = -reach.lowest;
  void* lowest = static_cast<std::byte*>(memory.data) - before;
  std::optional<Stream> home;
  StreamIdentity* writer = nullptr;  // stays alive with home, or with the owner that takes it over
  if (!memory.device.is_cpu()) [[unlikely]] {
    release_passed();
    home = Stream::lasting(memory.device, memory.stream);
    writer = &home->identity();
    owner = OrderedOwner::around(std::move(owner), std::move(home));
  }
  std::optional<Array> array(std::in_place, Array::Inside{},
                             std::move(owner).adopt(lowest, static_cast<std::size_t>(bytes),
                                                    memory.device, memory.readonly),
                             std::move(layout), memory.dtype);
  if (writer != nullptr) array->storage().uses().record(*writer, /*writes=*/true);
  return array;
}

}  // namespace spanwise
