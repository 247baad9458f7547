// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "compiled_plans.hpp"
#include "kernel_text.hpp"
#include "parameter.hpp"
#include "spanwise/export.hpp"
#include "spanwise/ref.hpp"

/// A user's statement about one element, done for all elements.
namespace spanwise::ops::user_kernels {

struct ElementwiseSpec {
  CommonSpec common{};
  Spelling spelling = Spelling::values;
  std::string arguments{};   ///< of Spelling::pointers
  std::string in_params{};   ///< of Spelling::values
  std::string out_params{};  ///< of Spelling::values
  std::string operation{};   ///< statements in `i`, `n`, `_ind` and the arguments
  std::string loop_prep{};   ///< before and after a thread's elements
  std::string after_loop{};
};

/// Compiled when it is called, once for each device, combination of dtypes and class of layouts.
/// May be called by several threads.
class SW_API ElementwiseKernel : public RefCounted {
 public:
  /// Throws ArgumentError for declarations that do not hold together.
  explicit ElementwiseKernel(ElementwiseSpec spec);
  ~ElementwiseKernel() override;

  const ElementwiseSpec& spec() const noexcept { return spec_; }
  const std::string& who() const noexcept { return who_; }
  std::span<const Parameter> parameters() const noexcept { return parameters_; }
  /// Of Spelling::values; the outputs come after them.
  std::size_t inputs() const noexcept { return inputs_; }

  /// Arrays are broadcast to one shape (that of `size` elements where it is given); outputs must
  /// have it. An input that shares memory with an output is copied first unless both are the same
  /// window. Queued on the current stream. Arguments are as many as parameters(); absent outputs
  /// are made, and added to `made`.
  ///
  /// Throws what Operands does, LayoutError for shapes that do not fit or outputs that overlap
  /// themselves or one another, CompileError.
  void operator()(std::span<const Argument> arguments, std::optional<std::int64_t> size,
                  std::vector<Array>& made) const;
  /// The text that such a call compiles, on a GPU or on the CPU, wherever the arrays are.
  std::string source(std::span<const Argument> arguments, std::optional<std::int64_t> size,
                     bool on_gpu) const;

 private:
  class Call;
  struct Plan;

  ElementwiseSpec spec_;
  std::string who_;
  std::vector<Parameter> parameters_;
  std::size_t inputs_ = 0;
  bool needs_index_ = false;
  std::int64_t apiece_ = 1;
  std::string operation_;  // as it goes into the text

  mutable CompiledPlans<Plan> plans_;
};

}  // namespace spanwise::ops::user_kernels
