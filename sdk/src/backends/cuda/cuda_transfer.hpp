// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <set>
#include <vector>

#include "backends/cuda/cuda_stream.hpp"
#include "backends/cuda/device_context.hpp"
#include "spanwise/core/fork.hpp"

/// Copies of contiguous bytes between the host and a device, and between devices, and fills, with
/// contracts as Backend's members of the same names; and the page-locked memory that they use.
namespace spanwise::cuda {

/// Page-locked host memory for results of device-to-host copies: the device writes to it directly,
/// while the driver copies to pageable memory through a buffer of its own. Users get the results as
/// ordinary CPU arrays. Thread-safe.
///
/// Locking pages takes as long as many copies, so a block is allocated only after several requests
/// for its size, and is cached when it is no longer used. All blocks together take at most
/// max_held bytes.
class PinnedPool {
 public:
  static constexpr std::size_t min_bytes = std::size_t{64} << 10, max_bytes = std::size_t{64} << 20,
                               max_held = std::size_t{512} << 20;

  explicit PinnedPool(DeviceContext& context) : context_(context) {}
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;

  /// Null if the caller has to use pageable memory: `bytes` is out of range, the size was requested
  /// too rarely, the limit is reached, or the driver fails.
  void* take(std::size_t bytes);
  /// Caches a block of take(), which must be idle. `bytes` is the size that was requested.
  void put(void* data, std::size_t bytes) noexcept;
  /// Whether `data` is a block of take().
  bool has(const void* data) noexcept;
  /// Unlocks and frees the cached blocks.
  void trim() noexcept;

 private:
  static constexpr int requests_before_first_block = 2;
  struct SizeClass {
    int requests = 0;
    std::vector<void*> free;
  };
  static std::size_t rounded(std::size_t bytes) noexcept { return std::bit_ceil(bytes); }
  SizeClass& size_for(std::size_t bytes) noexcept {
    return sizes_[static_cast<std::size_t>(std::countr_zero(rounded(bytes) / min_bytes))];
  }
  void* allocate(std::size_t bytes);

  DeviceContext& context_;
  Mutex mutex_;
  std::array<SizeClass, std::countr_zero(max_bytes / min_bytes) + 1> sizes_;
  std::set<const void*> blocks_;
  std::size_t held_ = 0;
};

/// Page-locked buffers for copies between the device and pageable host memory. Small uploads, and
/// large ones while pieces are free, return without waiting for the work queued on the stream
/// before them. Large uploads, and downloads, are split into pieces, so that the transfer of one
/// piece overlaps the host's copy of another.
class StagingArea {
 public:
  /// Bytes of a buffer for small uploads, and of a buffer for pieces.
  static constexpr std::size_t buffer_bytes = std::size_t{256} << 10;
  static constexpr std::size_t piece_bytes = std::size_t{2} << 20;

  explicit StagingArea(DeviceContext& context) : context_(context) {}
  StagingArea(const StagingArea&) = delete;
  StagingArea& operator=(const StagingArea&) = delete;

  // The context must be current and `stream` must not be captured. All return false, with nothing
  // queued, if no buffer is available, and throw DeviceError.

  /// Copies `bytes` <= buffer_bytes from `host` and queues their transfer to `device`.
  bool try_upload(const void* host, CUdeviceptr device, std::size_t bytes, CUstream stream);
  /// The same for any number of bytes, by 4 buffers of piece_bytes: each is filled again after its
  /// last transfer, and so after the work queued before that.
  bool try_upload_pieces(const void* host, CUdeviceptr device, std::size_t bytes, CUstream stream);
  /// Copies any number of bytes; returns when they are at `host`.
  bool try_download_pieces(CUdeviceptr device, void* host, std::size_t bytes, CUstream stream);

 private:
  struct StagingBuffer {
    void* data = nullptr;
    CUevent transferred = nullptr;  // recorded after its last transfer
    bool is_taken = false;          // by a thread that is filling it
  };
  StagingBuffer* take();
  bool try_allocate(StagingBuffer& buffer, std::size_t bytes) noexcept;
  bool try_allocate_pieces() noexcept;
  void wait(const StagingBuffer& buffer);
  void put_back(StagingBuffer& buffer) noexcept;

  DeviceContext& context_;
  Mutex mutex_;
  std::array<StagingBuffer, 16> buffers_;
  Mutex pieces_mutex_;  // held for a whole copy; meanwhile the functions return false on other
                        // threads
  std::array<StagingBuffer, 4> pieces_;
};

void upload(const void* host, void* device, std::size_t bytes, const CudaStream& stream);
void upload_pinned(const void* host, void* device, std::size_t bytes, const CudaStream& stream);
void download(const void* device, void* host, std::size_t bytes, const CudaStream& stream);
/// To memory of the stream's device.
void copy_peer(DeviceContext& source_context, const void* source, void* target, std::size_t bytes,
               const CudaStream& stream);
bool fill_bytes(void* data, const void* value, int period, std::size_t bytes,
                const CudaStream& stream);

}  // namespace spanwise::cuda
