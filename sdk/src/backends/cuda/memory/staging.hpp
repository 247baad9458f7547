// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "backends/cuda/context.hpp"
#include "spanwise/fork.hpp"

namespace spanwise::cuda {

/// Page-locked memory through which copies between the device and ordinary host memory pass.
/// Uploads let the caller go on at once, instead of waiting for all that is queued on the stream
/// before the copy; large ones, and downloads, are cut into pieces, one of which travels while the
/// host copies another.
class StagingArea {
 public:
  /// What a block takes, of those for small uploads and of those for pieces.
  static constexpr std::size_t block_bytes = std::size_t{256} << 10;
  static constexpr std::size_t piece_bytes = std::size_t{2} << 20;

  explicit StagingArea(DeviceContext& context) : context_(context) {}
  StagingArea(const StagingArea&) = delete;
  StagingArea& operator=(const StagingArea&) = delete;

  // The context is current; `stream` is not being captured. All give false, with nothing queued,
  // where no block is to be had.

  /// Copies `bytes` <= block_bytes from `host` and queues their way to `device`.
  bool upload(const void* host, CUdeviceptr device, std::size_t bytes, CUstream stream);
  /// The same for any number of bytes. Waits for its own earlier pieces where they fill all blocks.
  bool upload_pieces(const void* host, CUdeviceptr device, std::size_t bytes, CUstream stream);
  /// Returns when the bytes are at `host`.
  bool download_pieces(CUdeviceptr device, void* host, std::size_t bytes, CUstream stream);

 private:
  struct Block {
    void* data = nullptr;
    CUevent passed = nullptr;
    bool taken = false;  // by a thread that is filling it
  };
  Block* take();
  bool make(Block& block, std::size_t bytes) noexcept;
  bool make_pieces() noexcept;
  void wait(const Block& block);
  void put_back(Block& block) noexcept;

  DeviceContext& context_;
  Mutex mutex_;
  std::array<Block, 16> blocks_;
  Mutex pieces_mutex_;  // held through a whole copy; another thread's copy goes without
  std::array<Block, 4> pieces_;
};

}  // namespace spanwise::cuda
