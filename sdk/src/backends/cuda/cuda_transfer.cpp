// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

#include "backends/cuda/cuda_memory_pool.hpp"
#include "backends/cuda/cuda_transfer.hpp"
#include "backends/cuda/launch/launch_chain.hpp"
#include "runtime/backend.hpp"

namespace spanwise::cuda {

void* PinnedPool::take(std::size_t bytes) {
  if (bytes < min_bytes || bytes > max_bytes) return nullptr;
  const std::lock_guard lock(mutex_);
  SizeClass& size = size_for(bytes);
  if (size.free.empty())
    return size.requests++ < requests_before_first_block ? nullptr : allocate(rounded(bytes));
  void* data = size.free.back();
  size.free.pop_back();
  return data;
}

void* PinnedPool::allocate(std::size_t bytes) {
  if (held_ + bytes > max_held) return nullptr;
  const ContextGuard guard(context_, std::nothrow);
  if (!guard.ok()) return nullptr;
  const DriverApi& api = context_.api;
  const RelaxedCaptureMode relaxed(api);
  void* data = nullptr;
  if (api.mem_host_alloc(&data, bytes, CU_MEMHOSTALLOC_PORTABLE) != CUDA_SUCCESS) return nullptr;
  try {
    size_for(bytes).free.reserve(max_held / bytes);  // so that put() does not allocate
    blocks_.insert(data);
  } catch (const std::bad_alloc&) {
    api.mem_free_host(data);
    throw;
  }
  held_ += bytes;
  return data;
}

void PinnedPool::put(void* data, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  size_for(bytes).free.push_back(data);
}

bool PinnedPool::has(const void* data) noexcept {
  const std::lock_guard lock(mutex_);
  return blocks_.contains(data);
}

void PinnedPool::trim() noexcept {
  const ContextGuard guard(context_, std::nothrow);
  if (!guard.ok()) return;
  const RelaxedCaptureMode relaxed(context_.api);
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    for (void* data : sizes_[i].free) {
      context_.api.mem_free_host(data);
      blocks_.erase(data);
      held_ -= min_bytes << i;
    }
    sizes_[i].free.clear();
  }
}

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
  const CUresult copied = api.memcpy_htod_async(device, buffer->data, bytes, stream);
  const CUresult code =
      copied == CUDA_SUCCESS ? api.event_record(buffer->transferred, stream) : copied;
  // Without the event the end of the buffer's use is unknown: it stays taken if waiting fails too.
  if (code == CUDA_SUCCESS || copied != CUDA_SUCCESS ||
      api.stream_synchronize(stream) == CUDA_SUCCESS)
    put_back(*buffer);
  check(api, code, "copying ", bytes, " bytes to ", context_.device);
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

namespace {

CUdeviceptr address(const void* data) { return reinterpret_cast<CUdeviceptr>(data); }

// A captured copy reads the host's memory at each launch of the graph, not now.
void refuse_capture(const CudaStream& stream, const char* direction) {
  if (is_capturing(stream.context().api, stream.raw()))
    fail<DeviceError>("cuda: copying ", direction, ' ', stream.context().device,
                      " while its stream is being captured; do it before the "
                      "capture, or use page-locked host memory");
}

}  // namespace

void upload(const void* host, void* device, std::size_t bytes, const CudaStream& stream) {
  if (bytes == 0) return;
  DeviceContext& context = stream.context();
  const ContextGuard guard(context);
  refuse_capture(stream, "host memory to");
  StagingArea& staging = context.staging();
  const bool is_staged =
      bytes <= StagingArea::buffer_bytes
          ? staging.try_upload(host, address(device), bytes, stream.raw())
          : staging.try_upload_pieces(host, address(device), bytes, stream.raw());
  if (is_staged) return;
  // The driver may read pageable memory after this call has returned (on machines where the GPU
  // uses the host's page tables), so wait for the stream before the caller may write to it.
  const DriverApi& api = context.api;
  const RelaxedCaptureMode relaxed(api);  // another thread may be capturing another stream
  check(api, api.memcpy_htod_async(address(device), host, bytes, stream.raw()), "copying ", bytes,
        " bytes to ", context.device);
  check(api, api.stream_synchronize(stream.raw()), "waiting for ", bytes, " bytes to reach ",
        context.device);
}

void upload_pinned(const void* host, void* device, std::size_t bytes, const CudaStream& stream) {
  if (bytes == 0) return;
  const DeviceContext& context = stream.context();
  const ContextGuard guard(context);
  check(context.api, context.api.memcpy_htod_async(address(device), host, bytes, stream.raw()),
        "copying ", bytes, " page-locked bytes to ", context.device);
}

void download(const void* device, void* host, std::size_t bytes, const CudaStream& stream) {
  if (bytes == 0) return;
  DeviceContext& context = stream.context();
  const ContextGuard guard(context);
  refuse_capture(stream, "to the host from");
  // Two pieces at least, so that the transfer of one overlaps the host's copy of another.
  if (bytes >= 2 * StagingArea::piece_bytes && !context.pinned_pool().has(host) &&
      context.staging().try_download_pieces(address(device), host, bytes, stream.raw()))
    return;
  const DriverApi& api = context.api;
  const RelaxedCaptureMode relaxed(api);
  check(api, api.memcpy_dtoh_async(host, address(device), bytes, stream.raw()), "copying ", bytes,
        " bytes from ", context.device);
  check(api, api.stream_synchronize(stream.raw()), "waiting for ", bytes, " bytes from ",
        context.device);
}

void copy_peer(DeviceContext& source_context, const void* source, void* target, std::size_t bytes,
               const CudaStream& stream) {
  if (bytes == 0) return;
  DeviceContext& target_context = stream.context();
  const ContextGuard guard(target_context);
  const DriverApi& api = target_context.api;
  if (source_context.device == target_context.device) {
    check(api, api.memcpy_dtod_async(address(target), address(source), bytes, stream.raw()),
          "copying ", bytes, " bytes within ", target_context.device);
    return;
  }
  // With peer access, the copy goes directly from device to device, otherwise through the host.
  source_context.memory().enable_peer_access(target_context);
  target_context.memory().enable_peer_access(source_context);
  check(api,
        api.memcpy_peer_async(address(target), target_context.handle, address(source),
                              source_context.handle, bytes, stream.raw()),
        "copying ", bytes, " bytes from ", source_context.device, " to ", target_context.device);
}

bool fill_bytes(void* data, const void* value, int period, std::size_t bytes,
                const CudaStream& stream) {
  // A fill by the driver would end the batch of launches; a fill by a kernel becomes a part of it.
  if (CudaLaunchBatch::open_on(stream) != nullptr) return false;
  const DeviceContext& context = stream.context();
  const ContextGuard guard(context);
  const DriverApi& api = context.api;
  const std::size_t count = bytes / static_cast<std::size_t>(period);
  std::uint32_t word = 0;
  std::memcpy(&word, value, static_cast<std::size_t>(period));
  CUresult code = CUDA_SUCCESS;
  if (period == 1)
    code =
        api.memset_d8_async(address(data), static_cast<unsigned char>(word), count, stream.raw());
  else if (period == 2)
    code =
        api.memset_d16_async(address(data), static_cast<unsigned short>(word), count, stream.raw());
  else
    code = api.memset_d32_async(address(data), word, count, stream.raw());
  check(api, code, "filling ", bytes, " bytes of ", context.device);
  return true;
}

}  // namespace spanwise::cuda
