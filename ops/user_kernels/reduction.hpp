// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <span>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "kernel_text.hpp"
#include "parameter.hpp"
#include "spanwise/core/layout.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/kernels/kernel_table.hpp"
#include "spanwise/core/ref.hpp"

/// Reductions with a user's map, associative and commutative operation, and final statements.
namespace spanwise::ops::user_kernels {

struct ReductionSpec {
  CommonSpec common{};
  ParameterStyle style = ParameterStyle::values;
  std::string arguments{};      ///< of ParameterStyle::pointers
  std::string result_type{};    ///< of ParameterStyle::pointers: the dtype of its one result
  std::string in_params{};      ///< of ParameterStyle::values
  std::string out_params{};     ///< of ParameterStyle::values
  std::string map_expr{};       ///< an expression in the arguments and `i`
  std::string reduce_expr{};    ///< an expression in `a` and `b`, in any order of elements
  std::string post_map_expr{};  ///< statements that set the outputs by `a`; "": the output is `a`
  std::string identity{};       ///< the result for no elements; "": an error
  std::string reduce_type{};    ///< the type of `a` and `b`; "": the first output's
};

/// The axes to reduce, and whether they are kept with extent 1.
struct ReductionAxes {
  std::bitset<max_rank> axes{};
  bool all = true;  ///< all axes; `axes` is ignored
  bool keepdims = false;
};

/// Compiled like ElementwiseKernel. Elements are combined in an order that depends on shapes and
/// strides alone, so results do not depend on the device's number of processors.
class SW_API ReductionKernel : public RefCounted {
 public:
  /// Throws ArgumentError for inconsistent declarations.
  explicit ReductionKernel(ReductionSpec spec);
  ~ReductionKernel() override;

  const ReductionSpec& spec() const noexcept { return spec_; }
  const std::string& label() const noexcept { return label_; }
  std::span<const Parameter> parameters() const noexcept { return parameters_; }
  /// The number of inputs; the outputs follow them.
  std::size_t inputs() const noexcept { return inputs_; }

  /// As ElementwiseKernel::operator(). Also throws ArgumentError if there are no elements and no
  /// identity.
  void operator()(std::span<const Argument> arguments, const ReductionAxes& axes,
                  std::vector<Array>& allocated) const;
  /// As ElementwiseKernel::source().
  std::string source(std::span<const Argument> arguments, const ReductionAxes& axes,
                     bool on_gpu) const;

 private:
  class Call;
  struct Variant;
  struct Kernels;

  ReductionSpec spec_;
  std::string label_;
  std::vector<Parameter> parameters_;
  std::size_t inputs_ = 0;
  Parameter accumulator_;
  bool needs_index_ = false;
  std::string map_expr_;  // as in the generated source

  mutable KernelList<Variant, Kernels> kernels_;
};

}  // namespace spanwise::ops::user_kernels
