// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/memory/staging.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/backend.hpp"
#include "runtime/element_loops.hpp"

namespace spanwise::cuda {
namespace {

// Uses all worker threads if the copy is large enough.
void copy_on_host(const void* source, void* target, std::size_t bytes) {
  const auto array = [&](void* data) {
    return Array(Storage::adopt(data, bytes, cpu, nullptr, nullptr),
                 Layout::row_major({static_cast<std::int64_t>(bytes)}), uint8);
  };
  runtime::element_loops(cpu).copy(array(const_cast<void*>(source)), array(target),
                                   runtime::current_stream(cpu));
}

}  // namespace

bool StagingArea::try_allocate(StagingBuffer& buffer, std::size_t bytes) noexcept {
  const DriverApi& api = context_.api;
  if (buffer.data != nullptr) return true;
  if (buffer.transferred == nullptr &&
      api.event_create(&buffer.transferred, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
    return false;
  }
  return api.mem_host_alloc(&buffer.data, bytes, 0) == CUDA_SUCCESS;
}

// Buffers are tried in order, so that a program that waits between uploads reuses the first one.
StagingArea::StagingBuffer* StagingArea::take() {
  const std::lock_guard lock(mutex_);
  const RelaxedCaptureMode relaxed(context_.api);
  for (StagingBuffer& buffer : buffers_) {
    if (buffer.is_taken) continue;
    if (!try_allocate(buffer, buffer_bytes)) return nullptr;
    // An event that was never recorded counts as complete.
    if (context_.api.event_query(buffer.transferred) != CUDA_SUCCESS) continue;
    buffer.is_taken = true;
    return &buffer;
  }
  return nullptr;
}

void StagingArea::put_back(StagingBuffer& buffer) noexcept {
  const std::lock_guard lock(mutex_);
  buffer.is_taken = false;
}

bool StagingArea::try_upload(const void* host, CUdeviceptr device, std::size_t bytes,
                             CUstream stream) {
  StagingBuffer* buffer = take();
  if (buffer == nullptr) return false;
  std::memcpy(buffer->data, host, bytes);
  const DriverApi& api = context_.api;
  CUresult code = api.memcpy_htod_async(device, buffer->data, bytes, stream);
  if (code == CUDA_SUCCESS) code = api.event_record(buffer->transferred, stream);
  // On failure the buffer stays taken: without the event, the end of its use is unknown.
  check(api, code, "copying ", bytes, " bytes to ", context_.device);
  put_back(*buffer);
  return true;
}

bool StagingArea::try_allocate_pieces() noexcept {
  const RelaxedCaptureMode relaxed(context_.api);
  return std::ranges::all_of(
      pieces_, [&](StagingBuffer& buffer) { return try_allocate(buffer, piece_bytes); });
}

// Waits until the buffer's last transfer has completed. An event that was never recorded counts as
// complete.
void StagingArea::wait(const StagingBuffer& buffer) {
  const RelaxedCaptureMode relaxed(context_.api);
  check(context_.api, context_.api.event_synchronize(buffer.transferred),
        "waiting for a piece of a copy on ", context_.device);
}

bool StagingArea::try_upload_pieces(const void* host, CUdeviceptr device, std::size_t bytes,
                                    CUstream stream) {
  const std::unique_lock lock(pieces_mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !try_allocate_pieces()) return false;
  const DriverApi& api = context_.api;
  for (std::size_t offset = 0, piece = 0; offset < bytes; offset += piece_bytes, ++piece) {
    StagingBuffer& buffer = pieces_[piece % pieces_.size()];
    const std::size_t size = std::min(piece_bytes, bytes - offset);
    wait(buffer);
    copy_on_host(static_cast<const std::byte*>(host) + offset, buffer.data, size);
    CUresult code = api.memcpy_htod_async(device + offset, buffer.data, size, stream);
    if (code == CUDA_SUCCESS) code = api.event_record(buffer.transferred, stream);
    check(api, code, "copying ", bytes, " bytes to ", context_.device);
  }
  return true;
}

bool StagingArea::try_download_pieces(CUdeviceptr device, void* host, std::size_t bytes,
                                      CUstream stream) {
  const std::unique_lock lock(pieces_mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !try_allocate_pieces()) return false;
  const DriverApi& api = context_.api;
  const std::size_t count = (bytes + piece_bytes - 1) / piece_bytes;
  const auto size_of = [&](std::size_t piece) {
    return std::min(piece_bytes, bytes - piece * piece_bytes);
  };
  const auto queue = [&](std::size_t piece) {
    const StagingBuffer& buffer = pieces_[piece % pieces_.size()];
    CUresult code =
        api.memcpy_dtoh_async(buffer.data, device + piece * piece_bytes, size_of(piece), stream);
    if (code == CUDA_SUCCESS) code = api.event_record(buffer.transferred, stream);
    check(api, code, "copying ", bytes, " bytes from ", context_.device);
  };
  for (const StagingBuffer& buffer : pieces_) wait(buffer);  // earlier uploads may still use them
  for (std::size_t piece = 0; piece < std::min(count, pieces_.size()); ++piece) queue(piece);
  for (std::size_t piece = 0; piece < count; ++piece) {
    const StagingBuffer& buffer = pieces_[piece % pieces_.size()];
    wait(buffer);
    copy_on_host(buffer.data, static_cast<std::byte*>(host) + piece * piece_bytes, size_of(piece));
    if (piece + pieces_.size() < count) queue(piece + pieces_.size());
  }
  return true;
}

}  // namespace spanwise::cuda
