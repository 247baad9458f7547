// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "spanwise/core/device.hpp"
#include "spanwise/core/export.hpp"

namespace spanwise {

/// Memory of a device; sizes in bytes. The fields are read one after the other, so they may be
/// mutually inconsistent while other threads allocate.
struct MemoryStats {
  std::int64_t used = 0;  ///< held by live arrays
  std::int64_t peak = 0;  ///< maximum of `used` since the last reset_peak_memory()
  /// Number of allocations, without those served from the free list of small blocks.
  std::int64_t allocations = 0;
  std::int64_t held = 0;  ///< taken from the system by the library's pool, in use or cached
  std::int64_t free = 0;  ///< free memory of the whole device
  std::int64_t total = 0;
  std::optional<std::int64_t> limit;  ///< upper bound of `used`, see limit_memory()
  std::string source;  ///< allocator of new memory: "pool", or the name of a MemorySource
};

/// Memory statistics of `device`. Does not wait for queued work. Throws DeviceError.
SW_API MemoryStats memory_stats(Device device);
/// Sets `peak` to the memory in use now. Throws DeviceError.
SW_API void reset_peak_memory(Device device);
/// Returns the memory that the library's pool caches to the driver or the system. On a GPU this
/// waits for the device's queued work, since the pool frees in stream order. Throws DeviceError.
SW_API void trim_memory(Device device);
/// Limits `used` on `device` to `bytes`; an allocation that would exceed it throws
/// OutOfMemoryError. std::nullopt removes the limit. Throws ArgumentError for a negative number,
/// DeviceError.
SW_API void limit_memory(Device device, std::optional<std::int64_t> bytes);

/// Allocator for the arrays of a device in place of the library's own pool, for example another
/// library's caching allocator, so that both libraries reuse the same cached memory.
class SW_API MemorySource {
 public:
  struct Block {
    void* data = nullptr;   ///< 256-byte aligned
    void* owner = nullptr;  ///< for the source alone, which gets it back in deallocate()
  };

  virtual ~MemorySource();
  virtual std::string name() const = 0;
  /// Allocates at least `bytes` bytes, usable in stream order on `stream` (a CUstream as an
  /// integer; 0 on the CPU). Called on any thread. Throws OutOfMemoryError; the array is then not
  /// created.
  virtual Block allocate(Device device, std::size_t bytes, std::uintptr_t stream) = 0;
  /// Frees `block` in the order of the stream it was allocated on. All other streams' work on it
  /// has been ordered before. Called on any thread, possibly after the interpreter has been
  /// finalized.
  virtual void deallocate(Device device, const Block& block, std::size_t bytes) noexcept = 0;
};

/// Sets the allocator of `device`; null restores the library's pool. Returns the previous one.
/// Arrays keep the source of their memory alive. Throws DeviceError for a device that does not
/// exist.
SW_API std::shared_ptr<MemorySource> use_memory_source(Device device,
                                                       std::shared_ptr<MemorySource> source);

}  // namespace spanwise
