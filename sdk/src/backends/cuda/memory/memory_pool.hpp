// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cuda/context.hpp"
#include "backends/cuda/stream.hpp"
#include "runtime/backend.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::cuda {

/// Stream-ordered memory of one device. Thread-safe; any context may be current.
///
/// Allocates from its own pool (cuMemPoolCreate) instead of the device's default pool: the release
/// threshold applies to a whole pool, and other libraries allocate from the default pool. Uses
/// cuMemAlloc on devices without memory pools.
class MemoryPool {
 public:
  /// The context must be current.
  explicit MemoryPool(DeviceContext& context);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// Aligned to at least 256 bytes (the driver gives 512). `stream` must not be captured. Throws
  /// OutOfMemoryError, DeviceError.
  void* allocate(std::size_t bytes, const CudaStream& stream);
  /// As allocate() while `stream` is captured: the memory is not part of the graph, is usable
  /// immediately, and is not used by any work queued so far.
  void* allocate_outside_graph(std::size_t bytes, const CudaStream& stream);
  /// Frees after the work queued so far on `stream`, which must not be captured.
  void deallocate(void* data, std::size_t bytes, CudaStream& stream) noexcept;
  /// Reserves the memory of config "preallocate" in the pool. Throws OutOfMemoryError,
  /// ArgumentError.
  void preallocate();
  /// A block cache for one stream, which must call release_cache() before destroying it. Null if
  /// config "keep_blocks" is off or the device has no memory pools.
  std::unique_ptr<SmallBlocks> make_small_blocks();
  void release_cache(SmallBlocks& blocks, CUstream stream) noexcept;
  /// Waits for the device and returns all unused memory, cached blocks included, to it.
  void trim();
  /// `used` counts the memory of arrays, without cached blocks; `held` counts both.
  runtime::MemoryInfo info() const;
  /// Gives `other` access to all of the pool's memory, present and future, if the hardware supports
  /// peer access. Throws DeviceError.
  void enable_peer_access(const DeviceContext& other);

 private:
  CUresult try_allocate(CUdeviceptr& data, std::size_t bytes, CUstream stream);
  std::size_t size_of_block(std::size_t bytes, const CudaStream& stream) const noexcept;
  void* checked_allocation(CUresult code, CUdeviceptr data, std::size_t bytes);
  CUresult allocate_outside_capture(CUdeviceptr& data, std::size_t bytes);
  // A cached block of `bytes`, a rounded size, of the stream, or 0.
  CUdeviceptr take_cached(std::size_t bytes, const CudaStream& stream) noexcept;
  bool try_cache(CUdeviceptr data, std::size_t bytes, CudaStream& stream) noexcept;
  void free_cached_blocks() noexcept;
  void reclaim();
  [[noreturn]] void fail_out_of_memory(std::size_t bytes) const;

  DeviceContext& context_;
  CUmemoryPool pool_ = nullptr;             // null where the device has none
  CUstream allocation_stream_ = nullptr;    // for allocations that must not enter a graph
  std::atomic<std::int64_t> allocated_{0};  // bytes allocated on devices without memory pools

  mutable Mutex caches_mutex_;
  std::vector<SmallBlocks*> caches_;  // of all streams

  Mutex peers_mutex_;
  std::vector<int> peers_with_access_;
};

}  // namespace spanwise::cuda
