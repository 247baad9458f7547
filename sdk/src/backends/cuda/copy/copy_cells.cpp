// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backends/cuda/copy/copy_plan_steps.hpp"

namespace spanwise::cuda {
namespace {

// Cells in a row are worth a pass through shared memory from so many bytes on.
constexpr std::int64_t least_bytes = 4096;

// Whether the source holds the axes without a gap, forwards, in whatever order.
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

// The fewest of the last axes that are a cell; 0 where none are.
int cell_axes(const CopyAxes& axes) {
  std::int64_t units = 1;
  for (std::size_t i = axes.size() - 1; i > 0; --i) {
    if (axes[i].target_stride != units) return 0;
    units *= axes[i].extent;
    if (units > most_cell_units) return 0;
    const CopyAxis& row = axes[i - 1];
    if (row.target_stride == units && row.source_stride == units &&
        is_dense_in_source({axes.begin() + i, axes.end()}))
      return static_cast<int>(axes.size() - i);
  }
  return 0;
}

}  // namespace

bool make_cells(CopyPlan& plan, std::uintptr_t source, std::uintptr_t target) {
  if (plan.source_unit != plan.target_unit || plan.source_unit > 8) return false;
  const int inner = cell_axes(plan.axes);
  if (inner < 2) return false;
  const std::size_t place = plan.axes.size() - 1 - static_cast<std::size_t>(inner);
  const CopyAxis& row = plan.axes[place];
  const std::int64_t bytes = row.source_stride * plan.source_unit;
  if (bytes > thin_bytes / 8 || row.extent * bytes < least_bytes) return false;
  plan.kind = CopyPlan::Kind::cells;
  plan.inner = inner;
  // So many that chunks of either side begin on 16 bytes if the first does.
  const std::int64_t most = thin_bytes / bytes;
  plan.chunk = most - most % (most >= 16 ? 16 : 8);
  const std::uint64_t all = source | target | bits(plan.chunk * bytes) |
                            joined_steps(plan, place, true) | joined_steps(plan, place, false);
  plan.source_vectors = plan.target_vectors = all % 16 == 0;
  return true;
}

}  // namespace spanwise::cuda
