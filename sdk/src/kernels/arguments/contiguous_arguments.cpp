// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments/contiguous_arguments.hpp"

#include <algorithm>

#include "kernels/arguments/argument_errors.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::kernels {
namespace {

bool needs_copy(const ParameterRule& rule, const KernelArg& argument) {
  return rule.copies && argument.kind() == KernelArg::Kind::array &&
         !argument.array().layout().is_row_major();
}

bool are_same_view(const Array& a, const Array& b) {
  return a.storage() == b.storage() && a.dtype() == b.dtype() && a.layout() == b.layout();
}

}  // namespace

bool ContiguousArguments::are_needed(const KernelState& function,
                                     std::span<const KernelArg> arguments) {
  const auto& rules = function.signature().rules;
  if (arguments.size() != rules.size()) return false;
  for (std::size_t i = 0; i < rules.size(); ++i)
    if (needs_copy(rules[i], arguments[i])) return true;
  return false;
}

ContiguousArguments::ContiguousArguments(const KernelState& function,
                                         std::span<const KernelArg> arguments)
    : arguments_(arguments.begin(), arguments.end()) {
  for (std::size_t i = 0; i < arguments_.size(); ++i)
    if (needs_copy(function.signature().rules[i], arguments[i])) replace(function, i, arguments[i]);
}

void ContiguousArguments::replace(const KernelState& function, std::size_t index,
                                  const KernelArg& argument) {
  const ParameterRule& rule = function.signature().rules[index];
  const Array& array = argument.array();
  if (!accepts_elements(rule, array.dtype()) || !is_reachable(array.device(), function.device()) ||
      (rule.writes && array.readonly()))
    fail_argument(function, index, argument);
  if (rule.writes && array.layout().may_overlap_itself())
    fail<KernelArgumentError>(
        "kernel '", function.name(), "', argument ", index + 1, " of ", arguments_.size(),
        ": expected an array whose elements do not overlap in memory, since what the kernel writes "
        "is copied back, got ",
        array, ". Remedy: pass a copy, or declare the parameter const");
  const auto cached = std::ranges::find_if(
      copies_, [&](const ContiguousCopy& other) { return are_same_view(other.original, array); });
  ContiguousCopy& result = cached != copies_.end()
                               ? *cached
                               : copies_.emplace_back(ContiguousCopy{array, copy(array), false});
  result.is_written |= rule.writes;
  arguments_[index] = KernelArg(result.contiguous);
}

void ContiguousArguments::copy_out() const {
  for (const ContiguousCopy& each : copies_)
    if (each.is_written) copy(each.contiguous, each.original);
}

}  // namespace spanwise::kernels
