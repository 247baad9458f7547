// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backends/cuda/copy/copy_plan_steps.hpp"

namespace spanwise::cuda {
namespace {

// The minimal size of consecutive arrays for a pass through shared memory.
constexpr std::int64_t min_row_bytes = 4096;

// Whether the source is dense in these axes, in any order, with positive strides.
bool is_dense_in_source(CopyAxes axes) {
  std::sort(axes.begin(), axes.end(),
            [](const CopyAxis& a, const CopyAxis& b) { return a.source_stride < b.source_stride; });
  std::int64_t next = 1;
  for (const CopyAxis& axis : axes) {
    if (axis.source_stride != next) return false;
    next *= axis.extent;
  }
  return true;
}

// The minimal number of last axes that form a small array; 0 if none do.
int small_array_axes(const CopyAxes& axes) {
  std::int64_t units = 1;
  for (std::size_t i = axes.size() - 1; i > 0; --i) {
    if (axes[i].target_stride != units) return 0;
    units *= axes[i].extent;
    if (units > max_small_array_units) return 0;
    const CopyAxis& row = axes[i - 1];
    if (row.target_stride == units && row.source_stride == units &&
        is_dense_in_source({axes.begin() + i, axes.end()}))
      return static_cast<int>(axes.size() - i);
  }
  return 0;
}

}  // namespace

bool make_small_arrays(CopyPlan& plan, std::uintptr_t source, std::uintptr_t target) {
  if (plan.source_unit != plan.target_unit || plan.source_unit > 8) return false;
  const int inner = small_array_axes(plan.axes);
  if (inner < 2) return false;
  const std::size_t row_axis = plan.axes.size() - 1 - static_cast<std::size_t>(inner);
  const CopyAxis& row = plan.axes[row_axis];
  const std::int64_t bytes = row.source_stride * plan.source_unit;
  if (bytes > thin_bytes / 8 || row.extent * bytes < min_row_bytes) return false;
  plan.kind = CopyPlan::Kind::small_arrays;
  plan.inner = inner;
  // A number for which chunks of both sides are aligned to 16 bytes if the first is.
  const std::int64_t capacity = thin_bytes / bytes;
  plan.chunk = capacity - capacity % (capacity >= 16 ? 16 : 8);
  const std::uint64_t all = source | target | bits(plan.chunk * bytes) |
                            joined_steps(plan, row_axis, true) |
                            joined_steps(plan, row_axis, false);
  plan.source_vectors = plan.target_vectors = all % 16 == 0;
  return true;
}

}  // namespace spanwise::cuda
