// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "kernels/module_state.hpp"
#include "runtime/backend.hpp"
#include "spanwise/array.hpp"
#include "spanwise/kernel.hpp"

namespace spanwise::kernels {

/// Copies of a launch's arrays, each between two guard zones of a known pattern. Arguments whose
/// addresses overlap share a copy, as they share memory, whichever Storage each came in as: two
/// imports of one foreign array have two. Works on the current stream and waits for it.
class GuardedArrays {
 public:
  GuardedArrays(const FunctionState& function, std::span<const KernelArg> arguments);

  std::span<const KernelArg> arguments() const noexcept { return arguments_; }
  std::span<const runtime::RedZone> red_zones() const noexcept { return fences_; }
  /// Fills the copies from the arrays, and the zones with the pattern.
  void fill_in() const;
  /// What was written outside of the copies, as the end of a sentence; "" where nothing was.
  std::string damage() const;
  /// The copies' bytes now.
  std::vector<std::string> snapshot() const;
  /// Where `after` differs from `before` by more than rounding in another order explains, as the
  /// end of a sentence; "" where nowhere.
  std::string difference(const std::vector<std::string>& before,
                         const std::vector<std::string>& after) const;
  /// Writes `bytes`, a snapshot(), to the arrays that the kernel may write.
  void copy_out(const std::vector<std::string>& bytes) const;

 private:
  // The bytes of one argument's array.
  struct Part {
    Storage storage;
    std::uintptr_t begin, end;  // addresses
    bool writes;
  };
  // The bytes of arguments that overlap, as addresses.
  struct Window {
    std::uintptr_t begin, end;
    std::size_t argument = 0;  // the first of them
    std::vector<Part> parts{};
    Array block{};          // uint8, on the device: zone, bytes, zone
    std::int64_t zone = 0;  // bytes in front
    std::int64_t bytes() const noexcept { return static_cast<std::int64_t>(end - begin); }
  };
  void add(const FunctionState& function, std::size_t index, const Array& array);
  static void allocate(Window& window, Device device);
  Array moved(const Array& array) const;
  const Window& window_of(const Array& array) const;
  static Array within(const Window& window, std::int64_t begin, std::int64_t bytes);
  static Array original(const Part& part);
  static Array copy_of(const Window& window, const Part& part);
  std::string name_of(std::size_t argument) const;

  const FunctionState& function_;
  std::vector<Window> windows_;
  std::deque<Array> arrays_;  // arguments point to its elements
  std::vector<KernelArg> arguments_;
  std::vector<runtime::RedZone> fences_;
};

}  // namespace spanwise::kernels
