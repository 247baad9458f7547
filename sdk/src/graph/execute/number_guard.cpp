// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/execute/number_guard.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/string_utils.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::graph {
namespace {

// As in Theano's NanGuardMode.
constexpr double big = 1e10;

/// Counts and range of the numbers of an array; real and imaginary parts are separate numbers.
struct NumberCounts {
  std::int64_t nans = 0, infinities = 0, finite = 0;
  double smallest = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();

  void add(double x) {
    if (std::isnan(x)) {
      ++nans;
    } else if (std::isinf(x)) {
      ++infinities;
    } else {
      ++finite;
      smallest = std::min(smallest, x);
      greatest = std::max(greatest, x);
    }
  }
  bool is_big() const { return finite > 0 && std::max(-smallest, greatest) > big; }
};

bool can_hold_nan(const Array& array) {
  return array.dtype().is_floating() || array.dtype().is_complex();
}

NumberCounts count_numbers(const Array& array) {
  const bool is_complex = array.dtype().is_complex();
  const Array values = contiguous(to_device(astype(array, is_complex ? complex128 : float64), cpu));
  const auto* x = static_cast<const double*>(values.data());
  NumberCounts numbers;
  for (std::int64_t i = 0; i < values.size() * (is_complex ? 2 : 1); ++i) numbers.add(x[i]);
  return numbers;
}

std::string description_of(const NumberCounts& numbers) {
  std::vector<std::string> parts;
  if (numbers.nans > 0) parts.push_back(text(numbers.nans, " NaN"));
  if (numbers.infinities > 0) parts.push_back(text(numbers.infinities, " infinite"));
  const char* prefix = parts.empty() ? "from " : "others from ";
  if (numbers.finite > 0) parts.push_back(text(prefix, numbers.smallest, " to ", numbers.greatest));
  return parts.empty() ? "no elements" : joined(parts);
}

std::string allowed(const NanGuard& errors) {
  std::vector<std::string_view> kinds;
  if (errors.nan_is_error) kinds.push_back("no NaN");
  if (errors.inf_is_error) kinds.push_back("no infinite number");
  if (errors.big_is_error) kinds.push_back("no magnitude above 1e10");
  return joined(kinds, " and ");
}

// "2 NaN; expected no NaN" for a value with such errors; "" for others, and for no value.
std::string errors_in(const std::optional<Array>& value, const NanGuard& errors) {
  if (!value || !can_hold_nan(*value)) return "";
  const NumberCounts numbers = count_numbers(*value);
  const bool has_error = (errors.nan_is_error && numbers.nans > 0) ||
                         (errors.inf_is_error && numbers.infinities > 0) ||
                         (errors.big_is_error && numbers.is_big());
  return has_error ? text(description_of(numbers), "; expected ", allowed(errors)) : "";
}

}  // namespace

void check_leaves(const Step& step, const std::vector<int>& producers, const NanGuard& errors) {
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    if (producers[i] >= 0) continue;
    if (const std::string found = errors_in(step.inputs[i]->value, errors); !found.empty())
      fail<GraphError>("nan_guard: the input ", step.node->inputs()[i].label(),
                       " of the function: ", found);
  }
}

std::string ranges_of_inputs(const Step& step) {
  std::string ranges;
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    const auto& value = step.inputs[i]->value;
    ranges += (i ? "; " : "") + step.node->inputs()[i].label() + ": ";
    if (!value)
      ranges += "no value";
    else if (!can_hold_nan(*value))
      ranges += value->dtype().name();
    else
      ranges += description_of(count_numbers(*value));
  }
  return ranges;
}

void check_outputs(const Step& step, const NanGuard& errors, const std::string& ranges) {
  for (std::size_t i = 0; i < step.outputs.size(); ++i)
    if (const std::string found = errors_in(step.outputs[i]->value, errors); !found.empty())
      fail<GraphError>("nan_guard: output ", i, " of ", step.node->label(), ": ", found,
                       "\nInputs ranges: [", ranges.empty() ? ranges_of_inputs(step) : ranges, "]");
}

}  // namespace spanwise::graph
