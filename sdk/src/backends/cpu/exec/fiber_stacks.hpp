// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace spanwise::host {

/// The stacks of one worker's fibers, side by side in one mapping.
///
/// What a switch costs is cache and TLB misses, so stacks are close together, share huge pages, and
/// begin at staggered places: tops a power of two apart would all fall into the same few cache
/// sets. A pattern at the low end of each stack tells when it was not enough. Where the depth is
/// not known (a recursion), stacks are large and far between, with a red zone below each, and the
/// kernel's functions compare with low() before they go deeper (stack_limit.hpp). A guard page
/// below each would cost two mappings a stack, of which a process has 65,530.
class FiberStacks {
 public:
  static constexpr int most = 1024;

  FiberStacks() = default;
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;
  ~FiberStacks();

  /// Makes each stack at least `bytes` long; true where that replaced the stacks, whose contents
  /// are then gone. Throws OutOfMemoryError.
  bool reserve(std::size_t bytes);
  /// Usable bytes of stack `index`, with a fresh pattern at its low end.
  std::span<std::byte> prepare(int index);
  /// Where the usable bytes of stack `index` begin.
  std::byte* low(int index) const noexcept;
  /// Whether the pattern of stack `index` is whole.
  bool intact(int index) const;
  /// Whether depths are unknown, so that intact() is worth asking whenever a thread waits.
  bool guarded() const noexcept { return red_zone() > 0; }
  /// Of each stack, usable.
  std::size_t stack_bytes() const noexcept;
  /// All stacks, for who keeps books on memory.
  std::span<std::byte> region() const noexcept { return {base_, bytes_}; }

 private:
  void unmap() noexcept;
  std::byte* stack(int index) const noexcept;
  std::size_t red_zone() const noexcept;
  std::span<std::byte> pattern_of(int index) const noexcept;

  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;    // of the mapping
  std::size_t spacing_ = 0;  // from one stack to the next
};

}  // namespace spanwise::host
