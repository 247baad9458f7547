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

bool StagingArea::allocate_once(StagingBuffer& block, std::size_t bytes) noexcept {
  const DriverApi& api = context_.api;
  if (block.data != nullptr) return true;
  if (block.transferred == nullptr &&
      api.event_create(&block.transferred, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
    return false;
  }
  return api.mem_host_alloc(&block.data, bytes, 0) == CUDA_SUCCESS;
}

// Blocks are tried in order, so that a program that waits between uploads reuses the first one.
StagingArea::StagingBuffer* StagingArea::take() {
  const std::lock_guard lock(mutex_);
  const RelaxedCaptureMode relaxed(context_.api);
  for (StagingBuffer& block : blocks_) {
    if (block.taken) continue;
    if (!allocate_once(block, block_bytes)) return nullptr;
    // An event that was never recorded counts as complete.
    if (context_.api.event_query(block.transferred) != CUDA_SUCCESS) continue;
    block.taken = true;
    return &block;
  }
  return nullptr;
}

void StagingArea::put_back(StagingBuffer& block) noexcept {
  const std::lock_guard lock(mutex_);
  block.taken = false;
}

bool StagingArea::upload(const void* host, CUdeviceptr device, std::size_t bytes, CUstream stream) {
  StagingBuffer* block = take();
  if (block == nullptr) return false;
  std::memcpy(block->data, host, bytes);
  const DriverApi& api = context_.api;
  CUresult code = api.memcpy_htod_async(device, block->data, bytes, stream);
  if (code == CUDA_SUCCESS) code = api.event_record(block->transferred, stream);
  // On failure the block stays taken: without the event, the end of its use is unknown.
  check(api, code, "copying ", bytes, " bytes to ", context_.device);
  put_back(*block);
  return true;
}

bool StagingArea::allocate_pieces() noexcept {
  const RelaxedCaptureMode relaxed(context_.api);
  return std::ranges::all_of(
      pieces_, [&](StagingBuffer& block) { return allocate_once(block, piece_bytes); });
}

// Waits until the block's last transfer has completed. An event that was never recorded counts as
// complete.
void StagingArea::wait(const StagingBuffer& block) {
  const RelaxedCaptureMode relaxed(context_.api);
  check(context_.api, context_.api.event_synchronize(block.transferred),
        "waiting for a piece of a copy on ", context_.device);
}

bool StagingArea::upload_pieces(const void* host, CUdeviceptr device, std::size_t bytes,
                                CUstream stream) {
  const std::unique_lock lock(pieces_mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !allocate_pieces()) return false;
  const DriverApi& api = context_.api;
  for (std::size_t at = 0, piece = 0; at < bytes; at += piece_bytes, ++piece) {
    StagingBuffer& block = pieces_[piece % pieces_.size()];
    const std::size_t some = std::min(piece_bytes, bytes - at);
    wait(block);
    copy_on_host(static_cast<const std::byte*>(host) + at, block.data, some);
    CUresult code = api.memcpy_htod_async(device + at, block.data, some, stream);
    if (code == CUDA_SUCCESS) code = api.event_record(block.transferred, stream);
    check(api, code, "copying ", bytes, " bytes to ", context_.device);
  }
  return true;
}

bool StagingArea::download_pieces(CUdeviceptr device, void* host, std::size_t bytes,
                                  CUstream stream) {
  const std::unique_lock lock(pieces_mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !allocate_pieces()) return false;
  const DriverApi& api = context_.api;
  const std::size_t count = (bytes + piece_bytes - 1) / piece_bytes;
  const auto size_of = [&](std::size_t piece) {
    return std::min(piece_bytes, bytes - piece * piece_bytes);
  };
  const auto queue = [&](std::size_t piece) {
    const StagingBuffer& block = pieces_[piece % pieces_.size()];
    CUresult code =
        api.memcpy_dtoh_async(block.data, device + piece * piece_bytes, size_of(piece), stream);
    if (code == CUDA_SUCCESS) code = api.event_record(block.transferred, stream);
    check(api, code, "copying ", bytes, " bytes from ", context_.device);
  };
  for (const StagingBuffer& block : pieces_) wait(block);  // earlier uploads may still use them
  for (std::size_t piece = 0; piece < std::min(count, pieces_.size()); ++piece) queue(piece);
  for (std::size_t piece = 0; piece < count; ++piece) {
    const StagingBuffer& block = pieces_[piece % pieces_.size()];
    wait(block);
    copy_on_host(block.data, static_cast<std::byte*>(host) + piece * piece_bytes, size_of(piece));
    if (piece + pieces_.size() < count) queue(piece + pieces_.size());
  }
  return true;
}

}  // namespace spanwise::cuda
