// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <vector>

#include "runtime/backend.hpp"
#include "spanwise/fork.hpp"

namespace spanwise::host {

/// Host memory that is kept for the next array of its size. Fresh pages cost the kernel about 0.25
/// us each at first touch, as much as many an operation on them.
class MemoryPool {
 public:
  static MemoryPool& instance();

  /// 256-byte aligned, at least `bytes`; throws OutOfMemoryError.
  void* allocate(std::size_t bytes);
  /// As allocate, zeroed by the system where the pages are fresh; nullptr where `bytes` is small
  /// enough that filling kept memory is as quick.
  void* allocate_zeroed(std::size_t bytes);
  void deallocate(void* data, std::size_t bytes) noexcept;
  /// held and used of MemoryInfo.
  runtime::MemoryInfo usage();
  /// Gives what is kept back to the system.
  void trim() noexcept;

  /// What an allocation of `bytes` takes: one of a few sizes per power of two.
  static std::size_t rounded(std::size_t bytes) noexcept;

 private:
  void* take(std::size_t size);
  void* take_kept(std::size_t size);
  void* fresh(std::size_t size) noexcept;
  bool keep(void* data, std::size_t size) noexcept;
  void drop(void* data, std::size_t size) noexcept;

  Mutex mutex_;
  std::map<std::size_t, std::vector<void*>> kept_;  // by rounded size
  // Of arrays, and of all that came from the system.
  std::atomic<std::size_t> used_bytes_{0}, held_bytes_{0};
};

}  // namespace spanwise::host
