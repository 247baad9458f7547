// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "spanwise/core/storage.hpp"

namespace spanwise::core {

/// A per-thread free list of storages, since allocating a storage takes as long as many operations
/// on small arrays, and programs make one per operation. Small CPU storages are cached with their
/// memory; of others only the ControlBlock (the reference count) is cached. Memory that a stream
/// has used is not cached. The list is emptied when the thread exits.
class StorageFreeList {
 public:
  /// The largest size in bytes that is cached with its memory.
  static constexpr std::size_t max_bytes = 4096;
  /// The number of bytes to allocate for a cached storage of `bytes` bytes.
  static constexpr std::size_t capacity_for(std::size_t bytes) noexcept {
    return (bytes + unit - 1) / unit * unit;
  }

  /// A cached CPU storage of `bytes` bytes, uninitialised and writable; an empty Storage where none
  /// is cached, for 0 bytes and above max_bytes.
  static Storage take(std::size_t bytes) noexcept;
  /// As Storage::adopt() on the CPU, but cached together with its memory when the last reference is
  /// dropped. `data` has capacity_for(bytes) bytes, which is the size passed to `release`; `bytes`
  /// is 1 to max_bytes.
  static Storage adopt(void* data, std::size_t bytes, ReleaseFn release, void* context);
  /// Releases everything that the calling thread has cached.
  static void drop() noexcept;

 private:
  friend class spanwise::Storage;
  using ControlBlock = Storage::ControlBlock;
  struct Lists;
  struct AtThreadExit;

  static constexpr std::size_t unit = 256;  // bytes: sizes are rounded up to multiples of it

  static Lists& lists() noexcept;
  /// A ControlBlock with a count of 1; null where the host is out of memory.
  static ControlBlock* new_block() noexcept;
  /// After the last reference: caches the block with its memory if possible, else releases the
  /// memory and caches or deletes the block.
  static void cache_or_release(ControlBlock& block) noexcept;
  static void release(ControlBlock& block) noexcept;
};

}  // namespace spanwise::core
