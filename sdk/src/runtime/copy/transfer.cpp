// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "runtime/copy/copy_steps.hpp"
#include "runtime/copy/dense.hpp"
#include "runtime/streams/ordering.hpp"
#include "spanwise/runtime/creation.hpp"

namespace spanwise::runtime {
namespace {

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

}  // namespace

void copy_anywhere(const Array& source, const Array& target) {
  if (work_together(source.device(), target.device()))
    copy_on_device(source.broadcast_to(target.shape()), target);
  else
    transfer(without_repeats(source), target);
}

}  // namespace spanwise::runtime
