// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/copy.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "runtime/copy/copy_steps.hpp"
#include "runtime/copy/dense.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise {
namespace {

using runtime::as_computable;

void check_writable(const Array& target, const char* caller) {
  if (target.readonly())
    fail<ReadOnlyError>(caller, ": ", target, " is read-only; write to a copy of it");
}

void check_dtypes(DType source, DType target) {
  if (source == target) return;
  for (const DType dtype : {source, target})
    if (!dtype.is_computable())
      fail<DTypeError>("copy: no cast from ", source, " to ", target, ", since ", dtype,
                       " cannot be computed on; expected equal dtypes or computable ones. Cast in "
                       "the library that made it, or move its bytes with reinterpret(uint8)");
}

// Both views refer to the same elements at the same addresses, so there is nothing to copy.
bool is_same_window(const Array& a, const Array& b) noexcept {
  return a.dtype() == b.dtype() && a.data() == b.data() &&
         runtime::same_shape_and_strides(a.layout(), b.layout());
}

// Whether copy_on_device() applies: no broadcasting, no transfer between devices, no overlap, and
// computable dtypes.
bool can_copy_on_device(const Array& source, const Array& target) noexcept {
  return source.shape() == target.shape() && target.size() != 0 &&
         work_together(source.device(), target.device()) && source.dtype().is_computable() &&
         target.dtype().is_computable() && !may_share_memory(source, target);
}

// CPU memory on which no device has queued work.
bool is_idle_host(const Array& array) noexcept {
  return array.device().is_cpu() && array.storage() && array.storage().uses().none();
}

// Both in C order, or both in Fortran order.
bool are_dense_alike(const Layout& a, const Layout& b) noexcept {
  return (a.is_row_major() && b.is_row_major()) || (a.is_column_major() && b.is_column_major());
}

// Whether the fast paths below apply, for which the back end's overhead would be several times the
// copy: at most `max_bytes` bytes in CPU memory, neither cast nor broadcast.
bool is_small_host_copy(const Array& source, const Array& target, std::int64_t max_bytes) noexcept {
  return source.dtype() == target.dtype() && source.shape() == target.shape() &&
         target.nbytes() <= max_bytes && is_idle_host(source) && is_idle_host(target);
}

// Fast path for arrays in the same order. memmove() handles overlap.
bool try_copy_by_memmove(const Array& source, const Array& target) noexcept {
  if (!is_small_host_copy(source, target, 1 << 14)) return false;
  if (!are_dense_alike(source.layout(), target.layout())) return false;
  const auto bytes = static_cast<std::size_t>(target.nbytes());
  if (bytes > 0) std::memmove(target.data(), source.data(), bytes);
  return true;
}

// Copies `count` elements of `size` bytes; constant sizes compile to single loads and stores.
void move_line(std::byte* target, std::int64_t target_step, const std::byte* source,
               std::int64_t source_step, std::int64_t count, std::int64_t size) noexcept {
  const auto move = [&](auto bytes) {
    for (std::int64_t i = 0; i < count; ++i)
      std::memcpy(target + i * target_step, source + i * source_step, bytes);
  };
  if (size == 1) return move(std::integral_constant<std::size_t, 1>());
  if (size == 4) return move(std::integral_constant<std::size_t, 4>());
  if (size == 8) return move(std::integral_constant<std::size_t, 8>());
  move(static_cast<std::size_t>(size));
}

// Calls line(address, step) for each run along the last axis of a non-empty array, in C order;
// `step` in bytes.
template <class F>
void for_each_line(const Array& array, const F& line) {
  const Layout& layout = array.layout();
  const std::int64_t size = array.dtype().itemsize();
  const int outer = std::max(layout.rank() - 1, 0);
  auto* address = static_cast<std::byte*>(array.data());
  const std::int64_t step = layout.rank() > 0 ? layout.strides[outer] * size : size;
  std::array<std::int64_t, max_rank> index;
  std::fill_n(index.begin(), outer, 0);
  for (;;) {
    line(address, step);
    int axis = outer - 1;
    for (; axis >= 0; --axis) {
      std::int64_t& i = index[static_cast<std::size_t>(axis)];
      address += layout.strides[axis] * size;
      if (++i < layout.shape[axis]) break;
      address -= layout.strides[axis] * size * layout.shape[axis];
      i = 0;
    }
    if (axis < 0) return;
  }
}

// Fast path for any layouts. Copies through a buffer, so that overlap is handled, and writes in C
// order, so that the last of several writes to an element wins.
bool try_copy_by_buffer(const Array& source, const Array& target) noexcept {
  constexpr std::int64_t max_bytes = 512;
  if (target.size() == 0 || !is_small_host_copy(source, target, max_bytes)) return false;
  std::byte buffer[max_bytes];
  const std::int64_t size = target.dtype().itemsize();
  const std::int64_t count = target.rank() > 0 ? target.shape().back() : 1;
  std::byte* next = buffer;
  for_each_line(source, [&](const std::byte* line, std::int64_t step) {
    move_line(next, size, line, step, count, size);
    next += count * size;
  });
  if (target.layout().is_row_major()) {
    std::memcpy(target.data(), buffer, static_cast<std::size_t>(target.nbytes()));
    return true;
  }
  next = buffer;
  for_each_line(target, [&](std::byte* line, std::int64_t step) {
    move_line(line, step, next, size, count, size);
    next += count * size;
  });
  return true;
}

// Fast path for few bytes in C order in CPU memory.
bool try_fill_small(const Array& target, const Scalar& element) noexcept {
  constexpr std::int64_t max_bytes = 1 << 10;
  const std::int64_t bytes = target.nbytes();
  if (bytes > max_bytes || !is_idle_host(target) || !target.layout().is_row_major()) return false;
  auto* address = static_cast<std::byte*>(target.data());
  const std::int64_t size = element.dtype().itemsize();
  for (std::int64_t offset = 0; offset < bytes; offset += size)
    std::memcpy(address + offset, element.data(), static_cast<std::size_t>(size));
  return true;
}

}  // namespace

void copy(const Array& source, const Array& target) {
  check_writable(target, "copy");
  if (try_copy_by_memmove(source, target) || try_copy_by_buffer(source, target)) return;
  check_dtypes(source.dtype(), target.dtype());
  if (can_copy_on_device(source, target)) return runtime::copy_on_device(source, target);
  const Array broadcast = source.broadcast_to(target.shape());
  if (target.size() == 0 || is_same_window(broadcast, target)) return;
  const auto [from, to] = as_computable(source, target);
  if (may_share_memory(source, target)) {
    // The arrays overlap, so the source is copied first, without the repetitions of a broadcast.
    const Array scratch = runtime::empty_like(from, from.dtype(), working_device(from.device()));
    runtime::copy_on_device(from, scratch);
    runtime::copy_anywhere(scratch, to);
  } else {
    runtime::copy_anywhere(from, to);
  }
}

void fill(const Array& target, const Scalar& value) {
  check_writable(target, "fill");
  check_dtypes(value.dtype(), target.dtype());
  const Scalar element = value.dtype() == target.dtype() ? value : value.cast(target.dtype());
  if (target.size() == 0 || try_fill_small(target, element)) return;
  if (target.dtype().is_computable()) return runtime::fill_on_device(target, element);
  const auto size = static_cast<std::size_t>(element.dtype().itemsize());
  Storage storage =  // only read
      Storage::adopt(const_cast<void*>(element.data()), size, cpu, nullptr, nullptr);
  copy(Array(std::move(storage), Layout{}, element.dtype()), target);
}

}  // namespace spanwise
