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

}  // namespace

JobAxes::JobAxes(const ReduceJob& job) {
  const bool is_empty = job.input->size() == 0;
  // An empty input may have outputs; each is the identity.
  const Shape& shape = is_empty ? job.result->shape() : job.input->shape();
  const Layout indices = info(job.kernel.kind).gives_index ? index_layout(job) : Layout{};
  static const Layout nothing{};
  const bool has_input = !is_empty;
  const auto of = [&](const Array* array, bool is_used) {
    return array != nullptr && is_used ? &array->layout() : &nothing;
  };
  const Layout* const layouts[] = {of(job.input, has_input), of(job.result, true),
                                   of(job.mask, has_input),  of(job.companion, true),
                                   of(job.divisors, true),   has_input ? &indices : &nothing};
  const Walk walk(shape, layouts, 0);
  for (int i = 0; i < walk.rank(); ++i) {
    const JobAxis axis{walk.extent(i),    walk.stride(i, 0), walk.stride(i, 1), walk.stride(i, 2),
                       walk.stride(i, 3), walk.stride(i, 4), walk.stride(i, 5)};
    const bool is_kept = axis.result != 0;
    (is_kept ? kept : reduced).push_back(axis);
    (is_kept ? outputs : elements) *= axis.extent;
    is_column = is_kept;
  }
  if (is_empty) elements = 0;
  if (kept.empty()) kept.push_back({});
  if (reduced.empty()) reduced.push_back({});
}

}  // namespace spanwise::ops::reduce
