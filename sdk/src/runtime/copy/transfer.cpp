// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "runtime/collectives/host_waits.hpp"
#include "runtime/copy/copy_steps.hpp"
#include "runtime/copy/dense.hpp"
#include "runtime/streams/ordering.hpp"
#include "spanwise/creation.hpp"

namespace spanwise::runtime {
namespace {

std::size_t bytes_of(const Array& array) { return static_cast<std::size_t>(array.nbytes()); }

void upload(const Array& source, const Array& target) {
  // The host reads the source during this call, so queued device work on it (managed, pinned
  // memory) must finish first.
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
  if (execution_device(source.device()).is_cpu()) return upload(source, target);
  if (execution_device(target.device()).is_cpu()) return download(source, target);
  copy_peer(source, target);
}

// An uninitialised array on `device` with the layout of `source`, as target of move_bytes().
Array pinned_place(const Array& source, Device device) {
  Layout layout = source.layout();
  layout.offset -= layout.extent().first;
  return Array(allocate(bytes_of(source), device), std::move(layout), source.dtype());
}

// A dense copy on the source's device, cast to `dtype`, with the axes in `pattern`'s order of
// strides.
Array packed(const Array& source, DType dtype, const Array& pattern) {
  Array result = empty_like(pattern, dtype, execution_device(source.device()));
  copy_on_device(source, result);
  return result;
}

// Reduces broadcast axes (stride 0) to extent 1.
Array without_repeats(const Array& source) {
  Array once = source;
  for (int axis = 0; axis < source.rank(); ++axis)
    if (source.strides()[axis] == 0 && source.shape()[axis] > 1) once = once.slice(axis, {0, 1, 1});
  return once;
}

// Packs `source` and moves it to `target`, which is dense and has the dtype of the transfer. Large
// host arrays are packed in slices, so that packing one slice overlaps the upload of the previous
// one.
void send_packed(const Array& source, const Array& target, const Array& pattern) {
  constexpr std::int64_t few = 8 << 20, slice_bytes = 2 << 20;
  const bool from_host = execution_device(source.device()).is_cpu();
  const std::int64_t rows = target.rank() > 0 ? target.shape()[0] : 1;
  if (!from_host || target.nbytes() < few || rows < 2 || !target.layout().is_row_major())
    return move_bytes(packed(source, target.dtype(), pattern), target);
  const std::int64_t at_once =
      std::max<std::int64_t>(1, slice_bytes / std::max<std::int64_t>(1, target.nbytes() / rows));
  const Array scratch =
      empty_like(target.slice(0, {0, std::min(at_once, rows), 1}), target.dtype(), cpu);
  for (std::int64_t row = 0; row < rows; row += at_once) {
    const Slice range{row, std::min(row + at_once, rows), 1};
    const Array piece = scratch.slice(0, {0, *range.stop - row, 1});
    copy_on_device(source.slice(0, range), piece);
    upload(piece, target.slice(0, range));
  }
}

// Copies between devices. Casts on the side where fewer bytes are transferred, and changes the
// layout on the GPU if one side is a GPU.
void transfer(const Array& source, const Array& target) {
  const bool to_host = execution_device(target.device()).is_cpu();
  const int growth = target.dtype().itemsize() - source.dtype().itemsize();
  const bool cast_after = growth > 0 || (growth == 0 && !to_host);
  const DType wire = cast_after ? source.dtype() : target.dtype();
  const bool same_shape = source.shape() == target.shape();
  const bool can_land = same_shape && target.dtype() == wire && is_dense(target.layout());

  const bool wrong_order = can_land && !same_shape_and_strides(source.layout(), target.layout());
  const bool packs =
      source.dtype() != wire || !is_dense(source.layout()) || (to_host && wrong_order);
  const Array& pattern = same_shape ? target : source;
  if (can_land &&
      (packs ? same_shape_and_strides(pattern.layout().packed(pattern.shape()), target.layout())
             : same_shape_and_strides(source.layout(), target.layout()))) {
    return packs ? send_packed(source, target, pattern) : move_bytes(source, target);
  }
  const Device there = execution_device(target.device());
  const Array landed = packs ? empty_like(pattern, wire, there) : pinned_place(source, there);
  packs ? send_packed(source, landed, pattern) : move_bytes(source, landed);
  copy_on_device(landed.broadcast_to(target.shape()), target);
}

}  // namespace

void copy_anywhere(const Array& source, const Array& target) {
  if (execution_device(source.device()) == execution_device(target.device()))
    copy_on_device(source.broadcast_to(target.shape()), target);
  else
    transfer(without_repeats(source), target);
}

}  // namespace spanwise::runtime
