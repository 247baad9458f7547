// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/transfer.hpp"

#include <cstdint>
#include <cstring>

#include "backends/cuda/launch/launch_batch.hpp"
#include "backends/cuda/memory/memory_pool.hpp"
#include "backends/cuda/memory/pinned_pool.hpp"
#include "backends/cuda/memory/staging.hpp"

namespace spanwise::cuda {
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
