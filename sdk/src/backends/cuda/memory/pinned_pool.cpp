// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/memory/pinned_pool.hpp"

#include <new>

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

}  // namespace spanwise::cuda
