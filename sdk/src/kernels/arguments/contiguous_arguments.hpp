// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "kernels/module_state.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/kernels/kernel.hpp"

namespace spanwise::kernels {

/// C-contiguous copies of arrays for parameters that are declared contiguous, made before a launch
/// and copied back after it on the current stream.
class ContiguousArguments {
 public:
  /// Whether an argument has to be copied. False where the number of arguments is wrong, which the
  /// launch reports.
  static bool are_needed(const KernelState& function, std::span<const KernelArg> arguments);

  /// Makes the copies. Throws the error of the launch for an array that its parameter does not
  /// accept in any layout, and KernelArgumentError for an array that the kernel may write and whose
  /// elements overlap in memory.
  ContiguousArguments(const KernelState& function, std::span<const KernelArg> arguments);

  std::span<const KernelArg> arguments() const noexcept { return arguments_; }
  /// Copies the arrays that the kernel may have written back, in the order of the parameters.
  void copy_out() const;

 private:
  struct ContiguousCopy {
    Array original, contiguous;
    bool is_written;
  };
  void replace(const KernelState& function, std::size_t index, const KernelArg& argument);

  std::vector<KernelArg> arguments_;
  std::deque<ContiguousCopy> copies_;  // arguments point to its elements
};

}  // namespace spanwise::kernels
