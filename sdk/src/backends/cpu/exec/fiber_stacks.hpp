// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace spanwise::cpu_backend {

/// The stacks of one worker's fibers, side by side in one mapping.
///
/// Cache and TLB misses take much of the time of a switch, so stacks are close together, share huge
/// pages, and are not a power of two apart, or their tops would map to the same few cache sets.
/// A pattern at the low end of each stack shows an overflow. If the depth is unknown (recursion),
/// stacks are larger and further apart, with a red zone below each, and the kernel's functions
/// compare the stack pointer with low() on entry (stack_limit.hpp). A guard page below each stack
/// would cost two mappings per stack; a process can have 65,530.
class FiberStacks {
 public:
  static constexpr int max_stacks = 1024;

  FiberStacks() = default;
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;
  ~FiberStacks();

  /// Makes each stack at least `bytes` long. Returns whether the stacks were replaced, which
  /// discards their contents. Throws OutOfMemoryError.
  bool reserve(std::size_t bytes);
  /// Usable bytes of stack `index`, with a fresh pattern at its low end.
  std::span<std::byte> prepare(int index);
  /// The lowest usable address of stack `index`.
  std::byte* low(int index) const noexcept;
  /// Whether `address` is in stack `index`.
  bool contains(int index, const void* address) const noexcept {
    const auto* first = static_cast<const void*>(stack(index));
    const auto* end = static_cast<const void*>(stack(index) + spacing_);
    return std::less_equal<>()(first, address) && std::less<>()(address, end);
  }
  /// Whether the pattern of stack `index` is unchanged.
  bool is_intact(int index) const;
  /// Whether the stacks are for unknown depths, so that is_intact() should be checked whenever a
  /// thread waits.
  bool is_guarded() const noexcept;
  /// Usable bytes of each stack.
  std::size_t stack_bytes() const noexcept;
  /// The mapping of all stacks, for sanitizers.
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

}  // namespace spanwise::cpu_backend
