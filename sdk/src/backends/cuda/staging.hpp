// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <mutex>

#include "backends/cuda/context.hpp"

namespace spanwise::cuda {

/// Page-locked memory through which small uploads pass, so that the caller may go on at once
/// instead of waiting for all that is queued on the stream before the copy.
class StagingArea {
 public:
  /// What a block takes. Larger copies gain nothing from a second pass through the host's memory.
  static constexpr std::size_t block_bytes = std::size_t{256} << 10;

  explicit StagingArea(DeviceContext& context) : context_(context) {}
  StagingArea(const StagingArea&) = delete;
  StagingArea& operator=(const StagingArea&) = delete;

  /// Copies `bytes` <= block_bytes from `host` and queues their way to `device`. False, with
  /// nothing queued, where every block is still on its way. The context is current; `stream` is not
  /// being captured.
  bool upload(const void* host, CUdeviceptr device, std::size_t bytes, CUstream stream);

 private:
  struct Block {
    void* data = nullptr;
    CUevent passed = nullptr;
    bool taken = false;  // by a thread that is filling it
  };
  Block* take();
  bool make(Block& block) noexcept;
  void put_back(Block& block) noexcept;

  DeviceContext& context_;
  std::mutex mutex_;
  std::array<Block, 16> blocks_;
};

}  // namespace spanwise::cuda
