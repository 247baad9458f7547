// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "kernels/module_state.hpp"
#include "spanwise/array.hpp"
#include "spanwise/kernel.hpp"

namespace spanwise::kernels {

/// Arrays of other layouts for parameters that are declared contiguous: C-contiguous copies around
/// one launch, made and taken back on the current stream.
class ContiguousArguments {
 public:
  /// Whether some argument has to be copied. False also where the count is wrong, which the launch
  /// itself refuses.
  static bool are_needed(const FunctionState& function, std::span<const KernelArg> arguments);

  /// Throws as the launch would for an array that its parameter does not take whatever its layout,
  /// and KernelArgumentError for one that would be written and whose elements share memory.
  ContiguousArguments(const FunctionState& function, std::span<const KernelArg> arguments);

  std::span<const KernelArg> arguments() const noexcept { return arguments_; }
  /// Copies back what the kernel may have written, in the order of the parameters.
  void copy_out() const;

 private:
  struct Copy {
    Array original, contiguous;
    bool writes;
  };
  void replace(const FunctionState& function, std::size_t index, const KernelArg& argument);

  std::vector<KernelArg> arguments_;
  std::deque<Copy> copies_;  // arguments point to its elements
};

}  // namespace spanwise::kernels
