// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "geometry.hpp"

#include <algorithm>

namespace spanwise::ops::reduce {
namespace {

// Strides of an element's index in its output: C order over the reduced axes.
Layout index_layout(const ReduceJob& job) {
  Layout layout;
  layout.shape = job.input->shape();
  layout.strides = Strides(job.input->rank());
  std::int64_t step = 1;
  for (int axis = job.input->rank() - 1; axis >= 0; --axis) {
    if (job.result->shape()[axis] == job.input->shape()[axis]) continue;
    layout.strides[axis] = step;
    step *= layout.shape[axis];
  }
  return layout;
}

// The operand whose steps determine the order of the axes: one that is not broadcast, if possible.
int leader_of(std::span<const Array* const> operands) {
  const auto is_smaller = [](const Array* a, const Array* b) { return a->size() < b->size(); };
  return static_cast<int>(std::max_element(operands.begin(), operands.end(), is_smaller) -
                          operands.begin());
}

}  // namespace

JobAxes::JobAxes(const ReduceJob& job) {
  const bool is_empty = job.input->size() == 0;
  // An empty input may have outputs; each is the identity.
  const Shape& shape = is_empty ? job.result->shape() : job.input->shape();
  const Layout indices = info(job.kernel.kind).gives_index ? index_layout(job) : Layout{};
  static const Layout nothing{};
  const bool has_input = !is_empty && job.computed == nullptr;
  const auto of = [&](const Array* array, bool is_used) {
    return array != nullptr && is_used ? &array->layout() : &nothing;
  };
  std::array<const Layout*, 6 + ElementSource::max_operands> layouts{
      of(job.input, has_input), of(job.result, true),   of(job.mask, !is_empty),
      of(job.companion, true),  of(job.divisors, true), is_empty ? &nothing : &indices};
  int count = 6, leader = 0;
  if (job.computed != nullptr) {
    const auto operands = job.computed->source.operands();
    leader = count + leader_of(operands);
    for (const Array* operand : operands)
      layouts[static_cast<std::size_t>(count++)] = &operand->layout();
  }
  const Walk walk(shape, std::span(layouts.data(), static_cast<std::size_t>(count)), leader);
  for (int i = 0; i < walk.rank(); ++i) {
    const JobAxis axis{walk.extent(i),    walk.stride(i, 0), walk.stride(i, 1), walk.stride(i, 2),
                       walk.stride(i, 3), walk.stride(i, 4), walk.stride(i, 5)};
    const bool is_kept = axis.result != 0;
    (is_kept ? kept : reduced).push_back(axis);
    (is_kept ? outputs : elements) *= axis.extent;
    is_column = is_kept;
    if (count > 6)
      std::copy_n(walk.strides(i).begin() + 6, count - 6,
                  (is_kept ? kept_steps : reduced_steps).emplace_back().begin());
  }
  if (is_empty) elements = 0;
  if (kept.empty()) kept.push_back({});
  if (reduced.empty()) reduced.push_back({});
  kept_steps.resize(count > 6 ? kept.size() : 0);
  reduced_steps.resize(count > 6 ? reduced.size() : 0);
}

}  // namespace spanwise::ops::reduce
