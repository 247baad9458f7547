// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "kernel_text.hpp"
#include "parameter.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/kernels/kernel_table.hpp"
#include "spanwise/core/ref.hpp"
#include "spanwise/strided/plan.hpp"

/// Kernels that execute a user's statement for each element.
namespace spanwise::ops::user_kernels {

struct ElementwiseSpec {
  CommonSpec common{};
  ParameterStyle style = ParameterStyle::values;
  std::string arguments{};   ///< of ParameterStyle::pointers
  std::string in_params{};   ///< of ParameterStyle::values
  std::string out_params{};  ///< of ParameterStyle::values
  std::string operation{};   ///< statements in `i`, `n`, `_ind` and the arguments
  std::string loop_prep{};   ///< before and after the loop over a thread's elements
  std::string after_loop{};
};

/// Compiled at the first call for each device, combination of dtypes and strided::PlanShape.
/// Thread-safe.
class SW_API ElementwiseKernel : public RefCounted {
 public:
  /// Throws ArgumentError for inconsistent declarations.
  explicit ElementwiseKernel(ElementwiseSpec spec);
  ~ElementwiseKernel() override;

  const ElementwiseSpec& spec() const noexcept { return spec_; }
  const std::string& label() const noexcept { return label_; }
  std::span<const Parameter> parameters() const noexcept { return parameters_; }
  /// The number of inputs with ParameterStyle::values; the outputs follow them.
  std::size_t inputs() const noexcept { return inputs_; }

  /// Broadcasts arrays to one shape (`size` elements if given), which outputs must have. An input
  /// that shares memory with an output is copied first unless both are the same view. Queued on the
  /// current stream. There is one argument per parameter; outputs without arguments are allocated
  /// and added to `allocated`.
  ///
  /// Throws what Operands throws, LayoutError for shapes that do not broadcast and for outputs that
  /// overlap themselves or one another, and CompileError.
  void operator()(std::span<const Argument> arguments, std::optional<std::int64_t> size,
                  std::vector<Array>& allocated) const;
  /// The source that this call would compile for a GPU or the CPU, regardless of the arrays'
  /// device.
  std::string source(std::span<const Argument> arguments, std::optional<std::int64_t> size,
                     bool on_gpu) const;

 private:
  class Call;
  struct Variant;
  strided::PlanOptions plan_options() const;

  ElementwiseSpec spec_;
  std::string label_;
  std::vector<Parameter> parameters_;
  std::size_t inputs_ = 0;
  bool needs_index_ = false;  // whether the code uses `i`
  bool outputs_need_memory_ = false;
  std::string operation_;  // as in the generated source

  strided::PlanOptions options_{};  // of plans on a GPU
  mutable KernelList<Variant, Kernel> kernels_;
};

}  // namespace spanwise::ops::user_kernels
