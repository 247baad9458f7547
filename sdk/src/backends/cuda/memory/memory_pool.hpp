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
#include "spanwise/fork.hpp"

namespace spanwise::cuda {

/// Memory of one device in stream order. All members: any thread, any current context.
///
/// The bytes come from a pool of our own (cuMemPoolCreate) rather than the device's default one:
/// keeping memory between uses is a property of the whole pool, and other libraries that allocate
/// from the default pool did not ask for it. Where the device has no pools: cuMemAlloc.
class MemoryPool {
 public:
  /// The context is current.
  explicit MemoryPool(DeviceContext& context);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// 256-byte aligned at least (the driver gives 512). `stream` is not being captured.
  void* allocate(std::size_t bytes, const CudaStream& stream);
  /// The same while `stream` is captured: no part of the graph, ready at once, and in use by no
  /// work that is queued now.
  void* allocate_beside_graph(std::size_t bytes, const CudaStream& stream);
  /// After the work queued on `stream` so far, which is not being captured.
  void deallocate(void* data, std::size_t bytes, CudaStream& stream) noexcept;
  /// Takes config "preallocate" from the device and keeps it. Throws OutOfMemoryError,
  /// ArgumentError.
  void preallocate();
  /// For a stream, which forget()s them before it goes. Null where memory is not to be kept (config
  /// "keep_blocks"), or the device has no pools.
  std::unique_ptr<SmallBlocks> make_small_blocks();
  void forget(SmallBlocks& blocks, CUstream stream) noexcept;
  /// Gives the device what is kept, once its work is done.
  void trim();
  /// Of what is held, `used` is what arrays have; not what is kept for the next ones.
  runtime::MemoryInfo info() const;
  /// Lets `other` read and write the pool's memory directly, now and later, where the hardware can.
  void open_to(const DeviceContext& other);

 private:
  CUresult try_allocate(CUdeviceptr& data, std::size_t bytes, CUstream stream);
  std::size_t size_of_block(std::size_t bytes, const CudaStream& stream) const noexcept;
  void* allocated(CUresult code, CUdeviceptr data, std::size_t bytes);
  CUresult allocate_beside_capture(CUdeviceptr& data, std::size_t bytes);
  // For `bytes`, rounded, which may be on the stream's shelves.
  CUdeviceptr take_small(std::size_t bytes, const CudaStream& stream) noexcept;
  bool keep_small(CUdeviceptr data, std::size_t bytes, CudaStream& stream) noexcept;
  void empty_shelves() noexcept;
  void reclaim();
  [[noreturn]] void fail_out_of_memory(std::size_t bytes) const;

  DeviceContext& context_;
  CUmemoryPool pool_ = nullptr;             // null where the device has none
  CUstream side_stream_ = nullptr;          // for allocations that must not enter a graph
  std::atomic<std::int64_t> allocated_{0};  // without a pool: by us

  Mutex shelves_mutex_;
  std::vector<SmallBlocks*> bins_;     // of all streams
  std::atomic<std::int64_t> kept_{0};  // bytes on them

  Mutex peers_mutex_;
  std::vector<int> peers_;
};

}  // namespace spanwise::cuda
