// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <cstddef>
#include <new>
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

// Packed in C order, as most arrays are, which are told by one comparison an axis. The layout's
// bytes are the caller's to check: where a step here wraps around, they do not fit either.
bool read_packed(const OpenMemory& memory, std::int64_t* strides, Reach& reach) noexcept {
  const std::int64_t unit = memory.in_elements ? 1 : memory.dtype.itemsize();
  auto step = static_cast<std::uint64_t>(unit);
  std::int64_t size = 1;
  for (int axis = memory.rank - 1; axis >= 0; --axis) {
    const std::int64_t extent = memory.shape[axis];
    if (static_cast<std::uint64_t>(memory.strides[axis]) != step || extent <= 0) return false;
    strides[axis] = size;
    step *= static_cast<std::uint64_t>(extent);
    if (__builtin_mul_overflow(size, extent, &size)) return false;
  }
  reach = {.highest = size - 1, .size = size};
  return true;
}

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

// The memory of a GPU, whose use comes after what the producer has queued there and before what it
// queues once the array has gone. The stream stays alive with the owner.
StreamIdentity& order_behind_producer(const OpenMemory& memory, ForeignOwner& owner) {
  release_passed();
  Stream home = Stream::lasting(memory.device, memory.stream);
  StreamIdentity& writer = home.identity();
  owner = OrderedOwner::around(std::move(owner), std::move(home));
  return writer;
}

}  // namespace

bool share_at(Array* place, const OpenMemory& memory, ForeignOwner owner) {
  const std::int64_t item = memory.dtype.itemsize();
  // Not std::has_single_bit, which asks for a population count: a call where none is built in.
  const bool is_power = (item & (item - 1)) == 0;
  if (memory.data == nullptr || memory.rank < 0 || memory.rank > max_rank || !is_power ||
      item * 8 != memory.dtype.bits() || !is_aligned(memory, item)) [[unlikely]] {
    return false;
  }
  std::int64_t strides[max_rank];
  Reach reach;
  if (!read_packed(memory, strides, reach)) {
    reach = {};
    if (!read_strides(memory, strides, reach)) [[unlikely]]
      return false;
  }
  std::int64_t count, bytes, before, logical;
  bool overflows = __builtin_sub_overflow(reach.highest, reach.lowest, &count);
  overflows |= __builtin_add_overflow(count, 1, &count);
  overflows |= __builtin_mul_overflow(count, item, &bytes);
  overflows |= __builtin_mul_overflow(reach.lowest, -item, &before);
  overflows |= __builtin_mul_overflow(reach.size, item, &logical);
  if (overflows || reinterpret_cast<std::uintptr_t>(memory.data) <
                       static_cast<std::uintptr_t>(before)) [[unlikely]] {
    return false;
  }
  void* lowest = static_cast<std::byte*>(memory.data) - before;
  StreamIdentity* writer = nullptr;
  if (!memory.device.is_cpu()) [[unlikely]]
    writer = &order_behind_producer(memory, owner);
  const auto axes = static_cast<std::size_t>(memory.rank);
  Storage storage = std::move(owner).adopt(lowest, static_cast<std::size_t>(bytes), memory.device,
                                           memory.readonly);
  if (writer != nullptr) storage.uses().record(*writer, /*writes=*/true);
  new (place) Array(Array::Inside{}, std::move(storage), {memory.shape, axes}, {strides, axes},
                    -reach.lowest, memory.dtype);
  return true;
}

std::optional<Array> share(const OpenMemory& memory, ForeignOwner owner) {
  union Room {
    Room() noexcept {}
    ~Room() {}
    Array array;
  } room;
  if (!share_at(&room.array, memory, std::move(owner))) return std::nullopt;
  std::optional<Array> shared(std::move(room.array));
  room.array.~Array();
  return shared;
}

}  // namespace spanwise
