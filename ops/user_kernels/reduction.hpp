// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "compiled_plans.hpp"
#include "kernel_text.hpp"
#include "parameter.hpp"
#include "spanwise/dims.hpp"
#include "spanwise/export.hpp"
#include "spanwise/ref.hpp"

/// A user's map, associative and commutative operation, and what is done with its result.
namespace spanwise::ops::user_kernels {

struct ReductionSpec {
  CommonSpec common{};
  Spelling spelling = Spelling::values;
  std::string arguments{};      ///< of Spelling::pointers
  std::string result_type{};    ///< of Spelling::pointers: the dtype of its one result
  std::string in_params{};      ///< of Spelling::values
  std::string out_params{};     ///< of Spelling::values
  std::string map_expr{};       ///< an expression in the arguments and `i`
  std::string reduce_expr{};    ///< an expression in `a` and `b`, in any order of elements
  std::string post_map_expr{};  ///< statements that set the outputs by `a`; "": the output is `a`
  std::string identity{};       ///< of no elements; "": there must be some
  std::string reduce_type{};    ///< of `a` and `b`; "": the first output's
};

/// Which axes go, and whether they stay as extents of 1.
struct ReductionAxes {
  std::bitset<max_rank> axes{};
  bool all = true;  ///< whatever `axes` says
  bool keepdims = false;
};

/// Compiled as ElementwiseKernel is. Results depend on the arrays alone, never on the device's
/// number of processors: elements are combined in an order that shapes and strides decide.
class SW_API ReductionKernel : public RefCounted {
 public:
  /// Throws ArgumentError for declarations that do not hold together.
  explicit ReductionKernel(ReductionSpec spec);
  ~ReductionKernel() override;

  const ReductionSpec& spec() const noexcept { return spec_; }
  const std::string& who() const noexcept { return who_; }
  std::span<const Parameter> parameters() const noexcept { return parameters_; }
  std::size_t inputs() const noexcept { return inputs_; }

  /// As ElementwiseKernel's. Throws ArgumentError for no elements without an identity, too.
  void operator()(std::span<const Argument> arguments, const ReductionAxes& axes,
                  std::vector<Array>& made) const;
  std::string source(std::span<const Argument> arguments, const ReductionAxes& axes,
                     bool on_gpu) const;

 private:
  class Call;
  struct Plan;

  ReductionSpec spec_;
  std::string who_;
  std::vector<Parameter> parameters_;
  std::size_t inputs_ = 0;
  Parameter accumulator_;
  bool needs_index_ = false;
  std::string map_expr_;  // as it goes into the text

  mutable CompiledPlans<Plan> plans_;
};

}  // namespace spanwise::ops::user_kernels
