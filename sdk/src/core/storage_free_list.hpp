// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "spanwise/storage.hpp"

namespace spanwise::core {

/// What each thread keeps of the storages that it lets go, for its next ones: of small ones on the
/// host all, memory included; of others the block that counted their holders. Making a storage
/// from nothing takes as long as many an operation on a small array, and programs make one an
/// operation. Memory that a stream has used is not kept. All goes when the thread ends.
class StorageFreeList {
 public:
  /// Of larger ones the memory is not kept.
  static constexpr std::size_t most_bytes = 4096;
  /// What has to be allocated for a storage of `bytes` bytes that will be kept.
  static constexpr std::size_t room_for(std::size_t bytes) noexcept {
    return (bytes + unit - 1) / unit * unit;
  }

  /// A kept storage on the CPU with room for `bytes`, of uninitialised content and for writing;
  /// empty where there is none, as for 0 and for more than most_bytes.
  static Storage take(std::size_t bytes) noexcept;
  /// As Storage::adopt() on the CPU, but kept with its memory, which is room_for(bytes) large: so
  /// many `release` is told. `bytes` is 1 to most_bytes.
  static Storage adopt(void* data, std::size_t bytes, ReleaseFn release, void* context);
  /// Gives back all that the calling thread keeps.
  static void drop() noexcept;

 private:
  friend class spanwise::Storage;
  using Block = Storage::Block;
  struct Lists;
  struct Closer;

  static constexpr std::size_t unit = 256;

  static Lists& lists() noexcept;
  /// Of one holder; null where there is no memory.
  static Block* bare() noexcept;
  static void let_go(Block& block) noexcept;
  static void release(Block& block) noexcept;
};

}  // namespace spanwise::core
