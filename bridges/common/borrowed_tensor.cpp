// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <new>
#include <optional>
#include <utility>

#include "spanwise/bridge.hpp"
#include "spanwise/runtime/stream.hpp"
#include "strides.hpp"

namespace spanwise {
namespace {

// The memory that a layout covers.
struct CoveredMemory {
  std::int64_t bytes = 0;   ///< from the lowest address to the end of the highest element
  std::int64_t offset = 0;  ///< of element (0, ..., 0) from the lowest, in elements
};

// Converts any strides to elements and sets `covered`. Returns false for layouts that only the
// general path handles. The element size, `item`, is a power of two.
[[gnu::noinline]] bool try_convert_strides(const BorrowedTensor& memory, std::int64_t item,
                                           std::int64_t* strides, CoveredMemory& covered) noexcept {
  if (memory.strides == nullptr) return false;
  const bridges::ItemSize unit(memory.in_elements ? 1 : item);
  bridges::Reach reach;
  for (int axis = 0; axis < memory.rank; ++axis) {
    const std::int64_t extent = memory.shape[axis], stride = memory.strides[axis];
    const bool divides = unit.divides(stride);
    if (extent != 1 && (!divides || extent <= 0)) return false;
    // The stride of an extent of 1 is unused and may be any value; byte strides are kept if
    // possible, because NumPy shows them.
    const bool is_kept = extent != 1 || (divides && !memory.in_elements);
    strides[axis] = is_kept ? unit.to_elements(stride) : 1;
    if (!reach.try_add(extent, strides[axis])) return false;
  }
  // `logical` is the size of a packed copy, which must fit in 63 bits as well.
  std::int64_t count, before, logical;
  bool overflows = __builtin_sub_overflow(reach.highest, reach.lowest, &count);
  overflows |= __builtin_add_overflow(count, 1, &count);
  overflows |= __builtin_mul_overflow(count, item, &covered.bytes);
  overflows |= __builtin_mul_overflow(reach.lowest, -item, &before);
  overflows |= __builtin_mul_overflow(reach.size, item, &logical);
  covered.offset = -reach.lowest;
  return !overflows &&
         reinterpret_cast<std::uintptr_t>(memory.data) >= static_cast<std::uintptr_t>(before);
}

// As alignment_of(), for sizes that are powers of two, on a GPU or the CPU.
bool is_aligned(const BorrowedTensor& memory, std::int64_t item) noexcept {
  const std::int64_t unit = memory.dtype.is_complex() && memory.device.is_cpu() ? item / 2 : item;
  return (reinterpret_cast<std::uintptr_t>(memory.data) & static_cast<std::uintptr_t>(unit - 1)) ==
         0;
}

}  // namespace

bool share_at(Array* address, const BorrowedTensor& memory, ForeignOwner owner, Storage&& spare) {
  const std::int64_t item = memory.dtype.itemsize();
  if (memory.data == nullptr || memory.rank < 0 || memory.rank > max_rank ||
      !bridges::ItemSize(item).is_power_of_two() || item * 8 != memory.dtype.bits() ||
      !is_aligned(memory, item)) [[unlikely]] {
    return false;
  }
  std::int64_t strides[max_rank];
  CoveredMemory covered;
  // Most arrays are packed in C order, which is checked with one comparison per axis.
  const std::int64_t packed = memory.packed_size(strides);
  const bool fits = packed != 0 && !__builtin_mul_overflow(packed, item, &covered.bytes);
  if (!fits && !try_convert_strides(memory, item, strides, covered)) [[unlikely]]
    return false;
  void* lowest = static_cast<std::byte*>(memory.data) - covered.offset * item;
  // The producer's stream: use of the array waits for the work queued there, and work queued there
  // after the array is released waits for that use.
  Ref<StreamIdentity> producer;
  if (!memory.device.is_cpu()) [[unlikely]] {
    collect_released();
    producer = Stream::persistent(memory.device, memory.stream).take_identity();
  }
  const auto axes = static_cast<std::size_t>(memory.rank);
  const auto bytes = static_cast<std::size_t>(covered.bytes);
  Storage storage = std::move(spare);
  if (storage)
    std::move(owner).replace(storage, lowest, bytes, memory.device, memory.readonly);
  else
    storage = std::move(owner).adopt(lowest, bytes, memory.device, memory.readonly);
  if (producer) storage.uses().set_producer(std::move(producer));
  new (address) Array(Array::Inside{}, std::move(storage), {memory.shape, axes}, {strides, axes},
                      covered.offset, memory.dtype);
  return true;
}

std::optional<Array> share(const BorrowedTensor& memory, ForeignOwner owner) {
  union Uninitialised {
    Uninitialised() noexcept {}
    ~Uninitialised() {}
    Array array;
  } result;
  if (!share_at(&result.array, memory, std::move(owner))) return std::nullopt;
  std::optional<Array> shared(std::move(result.array));
  result.array.~Array();
  return shared;
}

}  // namespace spanwise
