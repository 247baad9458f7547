// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "backends/cuda/context.hpp"
#include "spanwise/fork.hpp"

namespace spanwise::cuda {

/// Page-locked host memory that results of copies off the device are made in: the device writes
/// there itself, where into ordinary memory the driver copies a second time. Programs get it as
/// arrays of the host like any others. Any thread.
///
/// To lock pages costs as much as many a copy, so a block is made when results of its size keep
/// coming, and stays for the next one; all together take no more than most_held bytes.
class PinnedPool {
 public:
  static constexpr std::size_t least_bytes = std::size_t{64} << 10,
                               most_bytes = std::size_t{64} << 20,
                               most_held = std::size_t{512} << 20;

  explicit PinnedPool(DeviceContext& context) : context_(context) {}
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;

  /// Null where ordinary memory has to do.
  void* take(std::size_t bytes);
  void give_back(void* data, std::size_t bytes) noexcept;
  /// Whether take() made it.
  bool has(const void* data) noexcept;
  /// Unlocks and frees what nobody has.
  void trim() noexcept;

 private:
  static constexpr int unproven = 2;  // results of a size that come before its first block
  struct Size {
    int asked = 0;
    std::vector<void*> free;
  };
  static std::size_t rounded(std::size_t bytes) noexcept { return std::bit_ceil(bytes); }
  Size& size_for(std::size_t bytes) noexcept {
    return sizes_[static_cast<std::size_t>(std::countr_zero(rounded(bytes) / least_bytes))];
  }
  void* make(std::size_t bytes);

  DeviceContext& context_;
  Mutex mutex_;
  std::array<Size, std::countr_zero(most_bytes / least_bytes) + 1> sizes_;
  std::set<const void*> made_;
  std::size_t held_ = 0;
};

}  // namespace spanwise::cuda
