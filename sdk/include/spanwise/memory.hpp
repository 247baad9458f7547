// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "spanwise/device.hpp"
#include "spanwise/export.hpp"

namespace spanwise {

/// The memory of a device, in bytes. Figures of several threads are read one after the other, so
/// they may not fit together while other threads work.
struct MemoryStats {
  std::int64_t used = 0;         ///< by arrays that are alive
  std::int64_t peak = 0;         ///< the most that `used` was since the last reset_peak_memory()
  std::int64_t allocations = 0;  ///< how often memory was taken, not counting kept small blocks
  std::int64_t held = 0;         ///< taken from the system by the library's pool, in use or kept
  std::int64_t free = 0;         ///< of the whole device, for anyone
  std::int64_t total = 0;
  std::optional<std::int64_t> limit;  ///< of `used`; see limit_memory()
  std::string source;  ///< where new memory comes from: "pool", or the name of a MemorySource
};

/// What arrays hold on `device`. On a GPU this waits for nothing. Throws DeviceError.
SW_API MemoryStats memory_stats(Device device);
/// Counts `peak` from what is in use now.
SW_API void reset_peak_memory(Device device);
/// Gives what the library's pool keeps for later arrays back to the system, for other libraries and
/// processes. On a GPU it waits for the device's work, since memory goes back in its order.
SW_API void trim_memory(Device device);
/// Arrays on `device` may hold so many bytes together; the one that would pass it raises
/// OutOfMemoryError. Nothing lifts the limit. Throws ArgumentError for a negative number.
SW_API void limit_memory(Device device, std::optional<std::int64_t> bytes);

/// Where the memory of a device's arrays comes from, in the place of the library's own pool:
/// another library's allocator, so that what one of both keeps serves the other.
class SW_API MemorySource {
 public:
  struct Block {
    void* data = nullptr;  ///< 256-byte aligned
    void* owner = nullptr;
  };

  virtual ~MemorySource();
  virtual std::string name() const = 0;
  /// At least `bytes` bytes, usable in stream order on the stream (CUstream as an integer; 0 on the
  /// CPU). Any thread; throws OutOfMemoryError where there is no memory, and the array that asked
  /// is not made.
  virtual Block allocate(Device device, std::size_t bytes, std::uintptr_t stream) = 0;
  /// Takes it back in the order of the stream that it was allocated on, which comes after all work
  /// on the bytes. Any thread, possibly when the interpreter has ended.
  virtual void deallocate(Device device, const Block& block, std::size_t bytes) noexcept = 0;
};

/// Has `device` take its memory from `source`, or from the pool again with null; returns the source
/// before. Arrays keep the source that they came from alive. Throws DeviceError for a device that
/// is not there.
SW_API std::shared_ptr<MemorySource> use_memory_source(Device device,
                                                       std::shared_ptr<MemorySource> source);

}  // namespace spanwise
