// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "backends/cuda/context.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::cuda {

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

}  // namespace spanwise::cuda
