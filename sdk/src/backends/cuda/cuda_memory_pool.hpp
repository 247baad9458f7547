// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "backends/cuda/device_context.hpp"
#include "runtime/backend.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::cuda {

/// A cache of the memory blocks of up to 1 MiB that were freed on one stream. Later work on the
/// stream is ordered after their last use, so reusing them needs no synchronization and no call of
/// the driver, whose pool takes about a microsecond per call. Thread-safe; not for forked children.
class SmallBlocks {
 public:
  static constexpr std::size_t min_bytes = 512, max_bytes = std::size_t{1} << 20;

  SmallBlocks() = default;
  SmallBlocks(const SmallBlocks&) = delete;
  SmallBlocks& operator=(const SmallBlocks&) = delete;

  /// The block size for `bytes` <= max_bytes: the next power of two, at least min_bytes.
  static std::size_t rounded(std::size_t bytes) noexcept {
    return std::bit_ceil(std::max(bytes, min_bytes));
  }
  /// A cached block of rounded(bytes), or 0.
  CUdeviceptr take(std::size_t bytes) noexcept {
    SizeBin& bin = bin_for(bytes);
    const std::lock_guard lock(mutex_);
    return bin.count == 0 ? 0 : bin.blocks[--bin.count];
  }
  /// Caches the block; returns false if the cache is full for its size.
  bool try_keep(CUdeviceptr block, std::size_t bytes) noexcept {
    SizeBin& bin = bin_for(bytes);
    const std::lock_guard lock(mutex_);
    if (bin.count == max_kept || bin.count * rounded(bytes) >= max_kept_bytes) return false;
    bin.blocks[bin.count++] = block;
    return true;
  }
  /// Calls free(block) for all cached blocks and removes them.
  template <class F>
  void release(F&& free) noexcept {
    const std::lock_guard lock(mutex_);
    for (SizeBin& bin : bins_)
      while (bin.count > 0) free(bin.blocks[--bin.count]);
  }
  /// The total bytes of the cached blocks.
  std::size_t bytes() const noexcept {
    const std::lock_guard lock(mutex_);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < bins_.size(); ++i) bytes += bins_[i].count * (min_bytes << i);
    return bytes;
  }

 private:
  // Of each size.
  static constexpr std::size_t max_kept = 64, max_kept_bytes = std::size_t{8} << 20;
  struct SizeBin {
    std::size_t count = 0;
    std::array<CUdeviceptr, max_kept> blocks;
  };
  SizeBin& bin_for(std::size_t bytes) noexcept {
    return bins_[static_cast<std::size_t>(std::countr_zero(rounded(bytes) / min_bytes))];
  }

  mutable SpinLock mutex_;
  std::array<SizeBin, std::countr_zero(max_bytes / min_bytes) + 1> bins_;
};

class CudaStream;

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

/// The bytes that config "preallocate" requests if `free` bytes are free. "0" means none, a number
/// up to 1 a fraction of `free` ("0.8"), a larger number bytes; a unit may follow (KiB, MiB, GiB,
/// KB, MB, GB: "8GiB"). Throws ArgumentError.
std::int64_t preallocate_bytes(std::string_view value, std::int64_t free);

}  // namespace spanwise::cuda
