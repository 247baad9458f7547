// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace spanwise::cpu_backend {

/// The former contents of memory that a checked run writes although the run has no copy of it, such
/// as memory whose address the kernel gets as an integer. The destructor restores them.
class UndoLog {
 public:
  UndoLog() = default;
  UndoLog(const UndoLog&) = delete;
  UndoLog& operator=(const UndoLog&) = delete;
  ~UndoLog() { restore(); }

  /// Call before `bytes` bytes at `address` are written. Only the first call for a byte saves it.
  void save(std::uintptr_t address, std::size_t bytes);
  void restore() noexcept;

 private:
  static constexpr std::size_t page_bytes = 1024;
  struct SavedPage {
    std::array<std::byte, page_bytes> contents;
    std::bitset<page_bytes> saved;
  };
  std::unordered_map<std::uintptr_t, SavedPage> pages_;
};

}  // namespace spanwise::cpu_backend
