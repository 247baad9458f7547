// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include "runtime/allocation.hpp"
#include "runtime/backend.hpp"
#include "runtime/copy_steps.hpp"
#include "runtime/stream_order.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/interrupt.hpp"
#include "spanwise/runtime/stream.hpp"

// Copies, casts and fills of arrays, on one device and between devices.
namespace spanwise::runtime {

bool is_dense(const Layout& layout) {
  if (layout.is_row_major()) return true;
  const auto [lowest, highest] = layout.offset_range();
  return highest - lowest + 1 == layout.size() && !layout.may_overlap_itself();
}

namespace {

// The array as uint8, with one more axis, the last, over the bytes of each element.
Array as_bytes(const Array& array) {
  const int size = array.dtype().itemsize();
  Layout layout = array.layout();
  for (int axis = 0; axis < layout.rank(); ++axis)
    layout.strides[axis] *= layout.shape[axis] > 1 ? size : 0;
  layout.offset *= size;
  layout.shape = layout.shape.inserted(layout.rank(), size);
  layout.strides = layout.strides.inserted(layout.strides.size(), 1);
  return Array(array.storage(), std::move(layout), uint8);
}

}  // namespace

std::pair<Array, Array> as_computable(const Array& source, const Array& target) {
  const DType dtype = source.dtype();
  if (dtype.is_computable()) return {source, target};
  const int bytes = dtype.itemsize();
  const bool has_integer_width =
      dtype.lanes() == 1 && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
  if (!has_integer_width) return {as_bytes(source), as_bytes(target)};
  const DType same_width(DTypeCode::uint, dtype.bits());
  return {source.reinterpret(same_width), target.reinterpret(same_width)};
}

namespace {

// Whether the shapes are equal, and the strides of all axes whose extent is not 1.
bool same_shape_and_strides(const Layout& a, const Layout& b) noexcept {
  if (a.shape != b.shape) return false;
  for (int axis = 0; axis < a.rank(); ++axis)
    if (a.shape[axis] > 1 && a.strides[axis] != b.strides[axis]) return false;
  return true;
}

// The lowest address of an element of a non-empty array.
void* lowest_address(const Array& array) noexcept {
  return static_cast<std::byte*>(array.storage().data()) +
         array.layout().offset_range().first * array.dtype().itemsize();
}

// Calls apply(source, target) on parts in which the target does not overlap itself, in C order:
// where an element is written more than once, the last write wins, as in NumPy.
template <class F>
void in_disjoint_parts(const Array& source, const Array& target, const F& apply) {
  if (!target.layout().may_overlap_itself()) return apply(source, target);
  for (int axis = 0; axis < target.rank(); ++axis) {
    const std::int64_t extent = target.shape()[axis];
    if (target.strides()[axis] != 0 || extent < 2) continue;
    // All writes along this axis go to the same elements; only the last one counts.
    return in_disjoint_parts(source.index(axis, extent - 1), target.index(axis, extent - 1), apply);
  }
  for (std::int64_t i = 0; i < target.shape()[0]; ++i)
    in_disjoint_parts(source.index(0, i), target.index(0, i), apply);
}

// Copies and casts between arrays of equal shape on one device. Here and below arrays are
// non-empty, targets writable, and source and target do not overlap. Work is ordered after earlier
// uses of the arrays and queued on the current streams.
void copy_on_device(const Array& source, const Array& target) {
  StreamState& stream = current_stream(target.device());
  const ElementLoops& loops = element_loops(target.device());
  order_use(stream, source.storage(), /*writes=*/false);
  order_use(stream, target.storage(), /*writes=*/true);
  in_disjoint_parts(source, target,
                    [&](const Array& from, const Array& to) { loops.copy(from, to, stream); });
  after_queueing(stream);
}

// Fills `target`; `value` must have its dtype.
void fill_on_device(const Array& target, const Scalar& value) {
  StreamState& stream = current_stream(target.device());
  const ElementLoops& loops = element_loops(target.device());
  order_use(stream, target.storage(), /*writes=*/true);
  in_disjoint_parts(target, target,
                    [&](const Array&, const Array& to) { loops.fill(to, value, stream); });
  after_queueing(stream);
}

std::size_t bytes_of(const Array& array) { return static_cast<std::size_t>(array.nbytes()); }

void upload(const Array& source, const Array& target) {
  // The host reads the source during this call, so queued device work on it (if it is managed or
  // pinned memory) must finish first.
  order_use(current_stream(source.device()), source.storage(), /*writes=*/false);
  StreamState& stream = current_stream(target.device());
  Backend& backend = backend_for(target.device());
  order_use(stream, target.storage(), /*writes=*/true);
  if (source.device().kind() == DeviceKind::cuda_host) {
    // The copy is only queued: later writes to the source, and its release, must wait for this
    // stream.
    order_use(stream, source.storage(), /*writes=*/false);
    backend.upload_pinned(lowest_address(source), lowest_address(target), bytes_of(source), stream);
  } else {
    backend.upload(lowest_address(source), lowest_address(target), bytes_of(source), stream);
  }
  after_queueing(stream);
}

void download(const Array& source, const Array& target) {
  StreamState& stream = current_stream(source.device());
  order_use(stream, source.storage(), /*writes=*/false);
  order_use(current_stream(target.device()), target.storage(), /*writes=*/true);
  backend_for(source.device())
      .download(lowest_address(source), lowest_address(target), bytes_of(source), stream);
  check_wait(source.device());
}

void copy_peer(const Array& source, const Array& target) {
  StreamState& stream = current_stream(target.device());
  order_use(stream, source.storage(), /*writes=*/false);
  order_use(stream, target.storage(), /*writes=*/true);
  backend_for(target.device())
      .copy_peer(lowest_address(source), source.device().ordinal(), lowest_address(target),
                 target.device().ordinal(), bytes_of(source), stream);
  after_queueing(stream);
}

// Both arrays are dense, with equal dtype, shape and strides, on different devices.
void move_bytes(const Array& source, const Array& target) {
  if (runs_on_host(source.device())) return upload(source, target);
  if (runs_on_host(target.device())) return download(source, target);
  copy_peer(source, target);
}

// An uninitialised array on `device` with the strides of `source`, which is dense.
Array empty_same_strides(const Array& source, Device device) {
  Layout layout = source.layout();
  layout.offset -= layout.offset_range().first;
  return empty_in(std::move(layout), source.dtype(), device);
}

// Reduces broadcast axes (stride 0) to extent 1.
Array without_repeats(const Array& source) {
  Array view = source;
  for (int axis = 0; axis < source.rank(); ++axis)
    if (source.strides()[axis] == 0 && source.shape()[axis] > 1) view = view.slice(axis, {0, 1, 1});
  return view;
}

// Copies `source` to a dense array of its device, cast to the dtype of `target` and with the axes
// in `pattern`'s order of strides, and moves that to `target`, which is dense. Large host arrays
// are packed in slices, so that packing one slice overlaps the upload of the previous one.
void send_packed(const Array& source, const Array& target, const Array& pattern) {
  constexpr std::int64_t min_sliced_bytes = 8 << 20, slice_bytes = 2 << 20;
  const bool from_host = runs_on_host(source.device());
  const std::int64_t rows = target.rank() > 0 ? target.shape()[0] : 1;
  if (!from_host || target.nbytes() < min_sliced_bytes || rows < 2 ||
      !target.layout().is_row_major()) {
    const Array packed = empty_like(pattern, target.dtype(), working_device(source.device()));
    copy_on_device(source, packed);
    return move_bytes(packed, target);
  }
  const std::int64_t slice_rows =
      std::max<std::int64_t>(1, slice_bytes / std::max<std::int64_t>(1, target.nbytes() / rows));
  const Array scratch =
      empty_like(target.slice(0, {0, std::min(slice_rows, rows), 1}), target.dtype(), cpu);
  for (std::int64_t row = 0; row < rows; row += slice_rows) {
    const Slice range{row, std::min(row + slice_rows, rows), 1};
    const Array piece = scratch.slice(0, {0, *range.stop - row, 1});
    copy_on_device(source.slice(0, range), piece);
    upload(piece, target.slice(0, range));
  }
}

// Copies between devices. Casts on the side where fewer bytes are transferred, and changes the
// layout on the GPU if one side is a GPU.
void transfer(const Array& source, const Array& target) {
  const bool to_host = runs_on_host(target.device());
  const int growth = target.dtype().itemsize() - source.dtype().itemsize();
  const bool casts_after = growth > 0 || (growth == 0 && !to_host);
  const DType sent_dtype = casts_after ? source.dtype() : target.dtype();
  const bool same_shape = source.shape() == target.shape();
  const bool same_strides = same_shape_and_strides(source.layout(), target.layout());
  const bool target_fits = same_shape && target.dtype() == sent_dtype && is_dense(target.layout());
  const bool packs = source.dtype() != sent_dtype || !is_dense(source.layout()) ||
                     (to_host && target_fits && !same_strides);
  const Array& pattern = same_shape ? target : source;
  const bool packs_like_target =
      packs && same_shape_and_strides(pattern.layout().packed(pattern.shape()), target.layout());
  // Otherwise the elements are sent to a new array on the target's device, and copied from there.
  const bool is_direct = target_fits && (packs ? packs_like_target : same_strides);
  const Device device = working_device(target.device());
  const Array received = is_direct ? target
                         : packs   ? empty_like(pattern, sent_dtype, device)
                                   : empty_same_strides(source, device);
  packs ? send_packed(source, received, pattern) : move_bytes(source, received);
  if (!is_direct) copy_on_device(received.broadcast_to(target.shape()), target);
}

// Copies and casts between any devices; `source` broadcasts to the shape of `target`.
void copy_anywhere(const Array& source, const Array& target) {
  if (work_together(source.device(), target.device()))
    copy_on_device(source.broadcast_to(target.shape()), target);
  else
    transfer(without_repeats(source), target);
}

}  // namespace
}  // namespace spanwise::runtime

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

// Copies of fewer bytes take less than two seconds, after which a ProgressLine appears.
constexpr std::int64_t long_copy_bytes = std::int64_t{1} << 30;

}  // namespace

void copy(const Array& source, const Array& target) {
  check_writable(target, "copy");
  if (try_copy_by_memmove(source, target) || try_copy_by_buffer(source, target)) return;
  check_dtypes(source.dtype(), target.dtype());
  std::optional<ProgressLine> line;
  if (target.nbytes() >= long_copy_bytes)
    line.emplace(text("copying ", target.nbytes() >> 20, " MiB from ", source.device(), " to ",
                      target.device()));
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

namespace {

Array converted(const Array& source, DType dtype, Device device) {
  Array result = device == cpu ? runtime::empty_on_host(source, dtype)
                               : runtime::empty_like(source, dtype, device);
  copy(source, result);
  return result;
}

template <class... Parts>
void check_copy_allowed(CopyMode mode, const Array& source, const Parts&... reason) {
  if (mode == CopyMode::never)
    fail<CopyNeededError>(
        reason..., " needs a copy of ", source, " (", source.nbytes(),
        " bytes), and copying was ruled out; allow it with CopyMode::if_needed (copy=None)");
}

}  // namespace

Array copy(const Array& source) {
  Array result = empty(source.shape(), source.dtype(), working_device(source.device()));
  copy(source, result);
  return result;
}

Array astype(const Array& source, DType dtype, CopyMode mode) {
  if (source.dtype() == dtype && mode != CopyMode::always) return source;
  check_copy_allowed(mode, source, "astype: casting to ", dtype);
  return converted(source, dtype, working_device(source.device()));
}

Array to_device(const Array& source, Device device, CopyMode mode) {
  if (source.device() == device && mode != CopyMode::always) return source;
  check_copy_allowed(mode, source, "to_device: moving to ", device);
  return converted(source, source.dtype(), device);
}

Array contiguous(const Array& source, CopyMode mode) {
  if (source.layout().is_row_major() && mode != CopyMode::always) return source;
  check_copy_allowed(mode, source, "contiguous: C order");
  return copy(source);
}

Array reshape(const Array& source, const Shape& shape, CopyMode mode) {
  if (mode != CopyMode::always)
    if (std::optional<Array> view = source.try_reshape(shape)) return *std::move(view);
  check_copy_allowed(mode, source, "reshape: shape ", shape);
  return *copy(source).try_reshape(shape);
}

Scalar item(const Array& array) {
  if (array.size() != 1)
    fail<LayoutError>("item: ", array, " has ", array.size(), " elements; expected one");
  if (runs_on_host(array.device())) {
    runtime::order_use(runtime::current_stream(array.device()), array.storage(), /*writes=*/false);
    return Scalar(array.dtype(), array.data());
  }
  std::byte bytes[16];
  const auto size = static_cast<std::size_t>(array.dtype().itemsize());
  if (size > sizeof bytes)
    fail<DTypeError>("item: an element of ", array.dtype(), " has ", size,
                     " bytes; expected at most ", sizeof bytes);
  copy(array.with_layout(Layout{Shape{}, Strides{}, array.layout().offset}),
       Array(Storage::adopt(bytes, size, cpu, nullptr, nullptr), Layout{}, array.dtype()));
  return Scalar(array.dtype(), bytes);
}

}  // namespace spanwise
