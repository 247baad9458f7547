// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "reduce_job.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace spanwise::ops::reduce {

Shape reduced_shape(const Shape& shape, const AxisSet& axes, bool keepdims) {
  Shape result;
  for (int axis = 0; axis < shape.size(); ++axis) {
    const bool is_reduced = axes[static_cast<std::size_t>(axis)];
    if (!is_reduced || keepdims)
      result = result.inserted(result.size(), is_reduced ? 1 : shape[axis]);
  }
  return result;
}

const char* name_of(Operation op) noexcept {
  static constexpr const char* names[] = {"sum", "prod",          "nansum", "mean",  "var",
                                          "std", "min",           "max",    "ptp",   "any",
                                          "all", "count_nonzero", "argmin", "argmax"};
  return names[static_cast<int>(op)];
}

DType element_for(DType element, DType result) noexcept {
  if (result.is_complex()) return element;
  if (result.is_floating()) return element.is_complex() ? result : element;
  if (result.is_bool()) return bool_;
  return is_whole(element) ? element : result;
}

ReductionKind kind_of(Operation op, DType element) noexcept {
  switch (op) {
    case Operation::prod:
      return ReductionKind::prod;
    case Operation::nansum:
      return is_whole(element) ? ReductionKind::sum : ReductionKind::nansum;
    case Operation::min:
      return element.is_bool() ? ReductionKind::all : ReductionKind::min;
    case Operation::max:
      return element.is_bool() ? ReductionKind::any : ReductionKind::max;
    case Operation::any:
      return ReductionKind::any;
    case Operation::all:
      return ReductionKind::all;
    case Operation::count_nonzero:
      return ReductionKind::count;
    case Operation::argmin:
      return ReductionKind::argmin;
    case Operation::argmax:
      return ReductionKind::argmax;
    default:
      return ReductionKind::sum;
  }
}

ReductionTypes types_for(ReductionKind kind, DType& element, bool inexact) noexcept {
  const bool is_narrow = element.itemsize() < 8 && is_whole(element);
  if (inexact && kind == ReductionKind::prod && is_narrow) element = int64;
  if (kind == ReductionKind::prod && is_narrow)
    element = element.is_bool() || element.code() == DTypeCode::int_ ? int64 : uint64;
  if (kind == ReductionKind::deviation && is_whole(element)) element = float64;
  const bool as_real = inexact && !(kind == ReductionKind::sum && is_narrow);
  return {kind, element, accumulator_for(kind, element, as_real)};
}

DType result_dtype(Operation op, DType element, std::optional<DType> dtype) {
  switch (op) {
    case Operation::sum:
    case Operation::prod:
    case Operation::nansum:
      if (dtype) return *dtype;
      if (!is_whole(element)) return element;
      return element.code() == DTypeCode::uint ? uint64 : int64;
    case Operation::mean:
      return dtype.value_or(is_whole(element) ? float64 : element);
    case Operation::var:
    case Operation::std: {
      const DType wanted = dtype.value_or(is_whole(element) ? float64 : element);
      return wanted == complex64 ? float32 : wanted == complex128 ? float64 : wanted;
    }
    case Operation::any:
    case Operation::all:
      return bool_;
    case Operation::count_nonzero:
    case Operation::argmin:
    case Operation::argmax:
      return int64;
    default:
      return element;
  }
}

const KindInfo& info(ReductionKind kind) noexcept {
  static constexpr KindInfo table[kind_count] = {
      {"Sum", false, false},      {"Product", false, false}, {"NanSum", false, false},
      {"Deviation", false, true}, {"Minimum", false, false}, {"Maximum", false, false},
      {"Any", false, false},      {"All", false, false},     {"Count", false, false},
      {"Minimum", true, false},   {"Maximum", true, false}};
  return table[static_cast<int>(kind)];
}

DType accumulator_for(ReductionKind kind, DType element, bool inexact) noexcept {
  switch (kind) {
    case ReductionKind::any:
    case ReductionKind::all:
      return bool_;
    case ReductionKind::count:
      return int64;
    case ReductionKind::deviation:
      return float64;
    case ReductionKind::sum:
    case ReductionKind::prod:
    case ReductionKind::nansum:
      if (element.is_complex()) return complex128;
      return element.is_floating() || inexact ? float64 : int64;
    default:
      return is_half(element) ? float32 : element;
  }
}

namespace {

// For argmin and argmax: the strides by which an element's position along the reduced axes, in C
// order, is counted; 0 along kept axes.
Layout index_layout(const ReduceJob& job) {
  Layout layout{job.input->shape(), Strides(job.input->rank())};
  std::int64_t step = 1;
  for (int axis = job.input->rank() - 1; axis >= 0; --axis) {
    if (job.result->shape()[axis] == job.input->shape()[axis]) continue;
    layout.strides[axis] = step;
    step *= layout.shape[axis];
  }
  return layout;
}

// The operand whose strides determine the order of the axes: the largest, which is not broadcast if
// any is not.
int leader_of(std::span<const Array* const> operands) {
  const auto is_smaller = [](const Array* a, const Array* b) { return a->size() < b->size(); };
  return static_cast<int>(std::max_element(operands.begin(), operands.end(), is_smaller) -
                          operands.begin());
}

// The operands of the walk over a job: one for each stride of JobAxis, with strides 0 if the job
// does not have it, then the operands of computed elements.
constexpr int job_operands = 6;

class WalkOperands {
 public:
  WalkOperands(const ReduceJob& job, bool is_empty)
      : indices_(info(job.types.kind).gives_index && !is_empty ? index_layout(job) : Layout{}) {
    const auto layout_of = [&](const Array* array, bool is_used = true) {
      return array != nullptr && is_used ? &array->layout() : &none_;
    };
    layouts_ = {layout_of(job.input, !is_empty && job.computed == nullptr),
                layout_of(job.result),
                layout_of(job.mask, !is_empty),
                layout_of(job.subtrahend),
                layout_of(job.divisors),
                &indices_};
    if (job.computed == nullptr) return;
    const auto operands = job.computed->source.operands();
    leader_ = job_operands + leader_of(operands);
    for (const Array* operand : operands) layouts_[count_++] = &operand->layout();
  }
  WalkOperands(const WalkOperands&) = delete;
  WalkOperands& operator=(const WalkOperands&) = delete;

  std::span<const Layout* const> layouts() const { return {layouts_.data(), count_}; }
  int leader() const { return leader_; }

 private:
  Layout indices_, none_{};
  std::array<const Layout*, job_operands + ElementSource::max_operands> layouts_{};
  std::size_t count_ = job_operands;
  int leader_ = 0;
};

}  // namespace

JobAxes::JobAxes(const ReduceJob& job) {
  const bool is_empty = job.input->size() == 0;
  // An empty input may have outputs; each is the identity.
  const Shape& shape = is_empty ? job.result->shape() : job.input->shape();
  const WalkOperands operands(job, is_empty);
  const Walk walk(shape, operands.layouts(), operands.leader());
  for (int axis = 0; axis < walk.rank(); ++axis) add(walk, axis);
  if (is_empty) elements = 0;
  if (kept.empty()) kept.push_back({});
  if (reduced.empty()) reduced.push_back({});
  const bool has_computed = walk.operands() > job_operands;
  kept_strides.resize(has_computed ? kept.size() : 0);
  reduced_strides.resize(has_computed ? reduced.size() : 0);
}

void JobAxes::add(const Walk& walk, int i) {
  const JobAxis axis{walk.extent(i),    walk.stride(i, 0), walk.stride(i, 1), walk.stride(i, 2),
                     walk.stride(i, 3), walk.stride(i, 4), walk.stride(i, 5)};
  const bool is_kept = axis.result != 0;
  (is_kept ? kept : reduced).push_back(axis);
  (is_kept ? outputs : elements) *= axis.extent;
  is_column = is_kept;
  if (walk.operands() == job_operands) return;
  OperandStrides steps{};
  std::ranges::copy(walk.strides(i).subspan(job_operands), steps.begin());
  (is_kept ? kept_strides : reduced_strides).push_back(steps);
}

}  // namespace spanwise::ops::reduce
