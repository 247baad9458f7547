// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/staging.hpp"

#include <cstring>

namespace spanwise::cuda {

bool StagingArea::make(Block& block) noexcept {
  const DriverApi& api = context_.api;
  if (block.passed == nullptr &&
      api.event_create(&block.passed, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
    return false;
  }
  return api.mem_host_alloc(&block.data, block_bytes, 0) == CUDA_SUCCESS;
}

// Blocks are tried in order, so that a program that waits between uploads stays on the first one.
StagingArea::Block* StagingArea::take() {
  const std::lock_guard lock(mutex_);
  const RelaxedCaptureMode relaxed(context_.api);
  for (Block& block : blocks_) {
    if (block.taken) continue;
    if (block.data == nullptr && !make(block)) return nullptr;
    // A new event has nothing to wait for.
    if (context_.api.event_query(block.passed) != CUDA_SUCCESS) continue;
    block.taken = true;
    return &block;
  }
  return nullptr;
}

void StagingArea::put_back(Block& block) noexcept {
  const std::lock_guard lock(mutex_);
  block.taken = false;
}

bool StagingArea::upload(const void* host, CUdeviceptr device, std::size_t bytes, CUstream stream) {
  Block* block = take();
  if (block == nullptr) return false;
  std::memcpy(block->data, host, bytes);
  const DriverApi& api = context_.api;
  CUresult code = api.memcpy_htod_async(device, block->data, bytes, stream);
  if (code == CUDA_SUCCESS) code = api.event_record(block->passed, stream);
  // Without the event nobody knows when the block is free again, so it stays taken.
  check(api, code, "copying ", bytes, " bytes to ", context_.device);
  put_back(*block);
  return true;
}

}  // namespace spanwise::cuda
