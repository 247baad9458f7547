// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "elementwise.hpp"

#include <algorithm>
#include <utility>

#include "elementwise_call.hpp"
#include "expression_text.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::ops::user_kernels {

ElementwiseKernel::ElementwiseKernel(ElementwiseSpec spec)
    : spec_(std::move(spec)), label_(checked_label(spec_.common)) {
  const std::string& preamble = spec_.common.preamble;
  const std::string all = text(spec_.loop_prep, "\n", spec_.operation, "\n", spec_.after_loop);
  operation_ = spec_.operation;
  if (spec_.style == ParameterStyle::pointers) {
    parameters_ = pointer_parameters(label_, spec_.arguments, preamble);
    const bool has_own_index = declares_index(spec_.operation);
    find_elements(all, has_own_index, parameters_);
    if (!has_own_index)
      operation_ = replace_element_accesses(spec_.operation, element_names(parameters_));
    inputs_ = parameters_.size();
  } else {
    parameters_ = value_parameters(label_, spec_.in_params, spec_.out_params);
    for (Parameter& parameter : parameters_) {
      parameter.needs_whole_array = parameter.kind == Parameter::Kind::raw;
      inputs_ += parameter.is_output ? 0 : 1;
    }
    if (parameters_.size() == inputs_)
      fail<ArgumentError>(label_,
                          ": expected outputs such as \"T z\", got none; declare them as the "
                          "second string");
  }
  check_names(label_, parameters_);
  if (std::ranges::all_of(parameters_, [](const Parameter& parameter) {
        return parameter.kind == Parameter::Kind::number;
      }))
    fail<ArgumentError>(label_,
                        ": expected an array among the arguments, got numbers only; declare one "
                        "such as \"float *z\"");
  outputs_need_memory_ = user_kernels::outputs_need_memory(spec_);
  options_ = plan_options();
  needs_index_ = has_token(operation_, "i") || has_token(preamble, "i");
}

// Packs of 8 reach most of the speed of wider ones, and repeat the operation less often.
strided::PlanOptions ElementwiseKernel::plan_options() const {
  if (is_long_operation(operation_)) return {.max_width = 1, .packs = 1};
  bool in_place = outputs_need_memory_;
  for (const Parameter& parameter : parameters_)
    in_place |= parameter.kind == Parameter::Kind::element &&
                (parameter.is_user_type() || (parameter.is_output && parameter.needs_whole_array));
  if (in_place) return {.max_width = 1, .packs = 4};
  return {.max_width = 8, .packs = 2};
}

ElementwiseKernel::~ElementwiseKernel() = default;

void ElementwiseKernel::operator()(std::span<const Argument> arguments,
                                   std::optional<std::int64_t> size,
                                   std::vector<Array>& allocated) const {
  Call(*this, arguments).run(size, allocated);
}

std::string ElementwiseKernel::source(std::span<const Argument> arguments,
                                      std::optional<std::int64_t> size, bool on_gpu) const {
  return Call(*this, arguments).source(size, on_gpu);
}

}  // namespace spanwise::ops::user_kernels
