// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/core/array.hpp"

#include <bit>
#include <numeric>
#include <ostream>

#include "core/checked_int.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise {
namespace {

[[noreturn]] void fail_outside(const Storage& storage, const Layout& layout, DType dtype) {
  const auto [lowest, highest] = layout.offset_range();
  fail<LayoutError>("array: ", layout, " in elements of ", dtype, " reaches from element ",
                    layout.size() == 0 ? layout.offset : lowest, " to ",
                    layout.size() == 0 ? layout.offset : highest, "; expected 0 to ",
                    static_cast<std::int64_t>(storage.bytes()) / dtype.itemsize() - 1,
                    ", since the storage has ", storage.bytes(), " bytes");
}

bool is_aligned(const void* address, std::int64_t alignment) noexcept {
  return (reinterpret_cast<std::uintptr_t>(address) & static_cast<std::uintptr_t>(alignment - 1)) ==
         0;
}

// Whether a layout without extents of 0 is valid and inside the storage; also false for an extent
// of 0. One pass, since every array is checked.
bool is_inside(const Storage& storage, const Layout& layout, DType dtype) noexcept {
  const int rank = layout.shape.size();
  if (rank != layout.strides.size() || rank > max_rank) return false;
  const std::int64_t *extents = layout.shape.data(), *strides = layout.strides.data();
  std::int64_t lowest = layout.offset, end = layout.offset, size = 1;
  for (int axis = 0; axis < rank; ++axis) {
    if (extents[axis] <= 0) return false;
    std::int64_t reach;
    bool overflows = __builtin_mul_overflow(size, extents[axis], &size);
    overflows |= __builtin_mul_overflow(extents[axis] - 1, strides[axis], &reach);
    std::int64_t& bound = reach < 0 ? lowest : end;
    overflows |= __builtin_add_overflow(bound, reach, &bound);
    if (overflows) return false;
  }
  const bool overflows =
      __builtin_add_overflow(end, 1, &end) || __builtin_mul_overflow(end, dtype.itemsize(), &end);
  return !overflows && lowest >= 0 && end <= static_cast<std::int64_t>(storage.bytes());
}

void check(const Storage& storage, const Layout& layout, DType dtype) {
  if (is_inside(storage, layout, dtype)) [[likely]]
    return;
  if (layout.shape.size() != layout.strides.size())
    fail<LayoutError>("array: shape ", layout.shape, " and strides ",
                      strides_text(layout.strides, dtype.itemsize()),
                      "; expected as many strides as extents");
  core::check_shape(layout.shape);
  // For size 0 only the offset is checked, so that data() stays an address inside the storage.
  std::int64_t first_byte = 0;
  const bool is_empty_inside =
      layout.size() == 0 && layout.offset >= 0 &&
      !__builtin_mul_overflow(layout.offset, dtype.itemsize(), &first_byte) &&
      first_byte <= static_cast<std::int64_t>(storage.bytes());
  if (!is_empty_inside) fail_outside(storage, layout, dtype);
}

std::uint64_t itemsize_of(const Array& array) noexcept {
  return static_cast<std::uint64_t>(array.dtype().itemsize());
}

// The range of bytes that contains all elements of an array, [begin, end).
struct Footprint {
  std::uint64_t begin = 0, end = 0;
};

Footprint footprint_of(const Array& array) noexcept {
  const auto [lowest, highest] = array.layout().offset_range();
  if (highest < lowest) return {};
  const auto base = reinterpret_cast<std::uint64_t>(array.storage().data());
  return {base + static_cast<std::uint64_t>(lowest) * itemsize_of(array),
          base + static_cast<std::uint64_t>(highest + 1) * itemsize_of(array)};
}

// The greatest common divisor of an array's strides, in bytes: all elements have addresses that are
// equal modulo this grain. 0 for one element.
std::uint64_t grain_of(const Array& array) noexcept {
  std::uint64_t grain = 0;
  for (int axis = 0; axis < array.rank(); ++axis)
    if (array.shape()[axis] > 1)
      grain = std::gcd(grain, static_cast<std::uint64_t>(core::magnitude(array.strides()[axis])) *
                                  itemsize_of(array));
  return grain;
}

}  // namespace

Array::Array() : layout_{Shape{0}, Strides{1}, 0} {}

Array::Array(Storage storage, Layout&& layout, DType dtype)
    : storage_(std::move(storage)), layout_(std::move(layout)), dtype_(dtype) {
  check(storage_, layout_, dtype_);
}

Array Array::as_readonly() const {
  return Array(Inside{}, storage_.as_readonly(), Layout(layout_), dtype_);
}

std::optional<Array> Array::try_reshape(const Shape& shape) const {
  std::optional<Layout> layout = layout_.reshape(shape);
  if (!layout) return std::nullopt;
  return view(*std::move(layout));
}

Array Array::reinterpret(DType dtype) const {
  const std::int64_t from = dtype_.itemsize(), to = dtype.itemsize();
  Layout layout = layout_;
  layout.offset = 0;
  layout = layout.reinterpret(dtype_.itemsize(), dtype.itemsize());
  // The first element may be at any byte: the part of its address that is no multiple of the
  // itemsize goes into the storage's start().
  const std::int64_t first = size() == 0 ? 0 : storage_.start() + layout_.offset * from;
  layout.offset = first / to;
  Array view(Inside{}, storage_.from_byte(static_cast<std::int32_t>(first % to)), std::move(layout),
             dtype);
  // The host can read unaligned elements; a kernel that does destroys the device's context.
  const std::int64_t alignment = device().is_cpu() ? 1 : alignment_of(dtype, device());
  if (size() != 0 && !is_aligned(view.data(), alignment))
    fail<LayoutError>("view: the address of the first element is no multiple of the ", alignment,
                      " bytes that ", dtype, " is aligned to on ", device(),
                      "; copy to a contiguous array first");
  return view;
}

std::int64_t alignment_of(DType dtype, Device device) noexcept {
  const bool is_hosts = device.is_cpu() || device.kind() == DeviceKind::cuda_host;
  const int bytes = dtype.bits() / 8 / (dtype.is_complex() && is_hosts ? 2 : 1);
  return std::has_single_bit(static_cast<unsigned>(bytes)) ? bytes : 1;
}

bool may_share_memory(const Array& a, const Array& b) noexcept {
  // CUDA's unified addressing maps the host and every GPU into one address space, so addresses are
  // sufficient; two storages may be two imports of the same memory.
  const auto begin_of = [](const Array& array) {
    return reinterpret_cast<std::uint64_t>(array.storage().data());
  };
  // Every element is inside its storage.
  if (begin_of(a) + a.storage().bytes() <= begin_of(b) ||
      begin_of(b) + b.storage().bytes() <= begin_of(a))
    return false;
  const Footprint first = footprint_of(a), second = footprint_of(b);
  if (first.begin >= second.end || second.begin >= first.end) return false;
  // Interleaved views, such as the channels of an image: disjoint if their elements occupy
  // different bytes modulo the common grain.
  const std::uint64_t grain = std::gcd(grain_of(a), grain_of(b));
  if (grain == 0) return true;
  const std::uint64_t distance = first.begin <= second.begin
                                     ? (second.begin - first.begin) % grain
                                     : grain - (first.begin - second.begin) % grain;
  return !(distance >= itemsize_of(a) && distance + itemsize_of(b) <= grain);
}

bool is_same_view(const Array& a, const Array& b) noexcept {
  if (a.data() != b.data() || a.shape() != b.shape() ||
      a.dtype().itemsize() != b.dtype().itemsize())
    return false;
  for (int axis = 0; axis < a.rank(); ++axis)
    if (a.shape()[axis] > 1 && a.strides()[axis] != b.strides()[axis]) return false;
  return true;
}

bool overlaps_partially(const Array& a, const Array& b) noexcept {
  return may_share_memory(a, b) && !is_same_view(a, b);
}

std::ostream& operator<<(std::ostream& out, const Array& array) {
  out << array.dtype() << ' ' << array.shape() << " on " << array.device() << ", strides "
      << strides_text(array);
  return array.readonly() ? out << ", read-only" : out;
}

}  // namespace spanwise
