// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "reduction.hpp"

#include <utility>

#include "expression_text.hpp"
#include "reduction_call.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::ops::user_kernels {

ReductionKernel::ReductionKernel(ReductionSpec spec)
    : spec_(std::move(spec)), label_(checked_label(spec_.common)) {
  if (spec_.reduce_expr.empty())
    fail<ArgumentError>(label_, ": expected reduce_expr such as \"a + b\", got nothing");
  const std::string& preamble = spec_.common.preamble;
  map_expr_ = spec_.map_expr;
  if (spec_.style == ParameterStyle::pointers) {
    parameters_ = pointer_parameters(label_, spec_.arguments, preamble);
    check_names(label_, parameters_);
    find_elements(spec_.map_expr, false, parameters_);
    for (Parameter& parameter : parameters_) parameter.is_output = false;
    inputs_ = parameters_.size();
    if (inputs_ == 0)
      fail<ArgumentError>(label_, ": expected arguments such as \"float *x\", got none");
    if (map_expr_.empty()) {
      map_expr_ = parameters_[0].name + "[i]";
      parameters_[0].needs_whole_array = false;
    }
    map_expr_ = replace_element_accesses(map_expr_, element_names(parameters_));
    Parameter result = parse_type(label_, spec_.result_type, preamble);
    if (!result.dtype.has_value())
      fail<ArgumentError>(label_, ": expected dtype_out as a dtype, got '", spec_.result_type,
                          "'; pass one such as \"float32\"");
    result.name = "sw_out";
    result.is_output = true;
    result.needs_whole_array = false;
    parameters_.push_back(std::move(result));
  } else {
    parameters_ = value_parameters(label_, spec_.in_params, spec_.out_params);
    check_names(label_, parameters_);
    for (Parameter& parameter : parameters_) {
      parameter.needs_whole_array = false;
      inputs_ += parameter.is_output ? 0 : 1;
    }
    if (inputs_ == 0 || parameters_.size() == inputs_)
      fail<ArgumentError>(label_, ": expected inputs and outputs such as \"T x\" and \"T y\", got ",
                          inputs_, " inputs and ", parameters_.size() - inputs_, " outputs");
    if (map_expr_.empty())
      fail<ArgumentError>(label_, ": expected map_expr such as \"x * x\", got nothing");
    for (std::size_t k = inputs_; k < parameters_.size(); ++k)
      if (parameters_[k].kind != Parameter::Kind::element)
        fail<ArgumentError>(label_, ": output '", parameters_[k].name,
                            "' is raw; declare it without raw");
  }
  accumulator_ = spec_.reduce_type.empty() ? parameters_[inputs_]
                                           : parse_type(label_, spec_.reduce_type, preamble);
  accumulator_.name = "reduce_type";
  needs_index_ = has_token(map_expr_, "i") || has_token(preamble, "i");
}

ReductionKernel::~ReductionKernel() = default;

void ReductionKernel::operator()(std::span<const Argument> arguments, const ReductionAxes& axes,
                                 std::vector<Array>& allocated) const {
  Call(*this, arguments, axes).run(allocated);
}

std::string ReductionKernel::source(std::span<const Argument> arguments, const ReductionAxes& axes,
                                    bool on_gpu) const {
  return Call(*this, arguments, axes).source(on_gpu);
}

}  // namespace spanwise::ops::user_kernels
