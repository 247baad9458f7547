// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "cuda_module.hpp"
#include "geometry.hpp"
#include "job.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/stream.hpp"
#include "spanwise/walk.hpp"

namespace spanwise::ops::reduce {
namespace {

constexpr std::int64_t scan_block = 256, scan_chunk = 8 * scan_block;
/// From so many lines on, or for lines so short, each has a thread of its own.
constexpr std::int64_t many_lines = 1 << 14, short_line = 32;

/// struct Line of scans.cuh.
struct Line {
  std::int64_t lines, length, step, result_step, chunks;
};

// All axes but one, as the kernels count lines.
std::vector<JobAxis> line_axes(const ScanJob& job) {
  const auto without = [&](const Layout& layout) {
    Layout rest = layout;
    rest.shape = layout.shape.erased(job.axis);
    rest.strides = layout.strides.erased(job.axis);
    return rest;
  };
  const Layout input = without(job.input->layout()), result = without(job.result->layout());
  const Layout* const layouts[] = {&input, &result};
  const Walk walk(input.shape, layouts, 0);
  std::vector<JobAxis> axes;
  for (int i = 0; i < walk.rank(); ++i) {
    JobAxis axis;
    axis.extent = walk.extent(i);
    axis.input = walk.stride(i, 0);
    axis.result = walk.stride(i, 1);
    axes.push_back(axis);
  }
  return axes;
}

}  // namespace

void scan_on_cuda(const ScanJob& job) {
  std::vector<JobAxis> axes = line_axes(job);
  Line line{1, job.input->shape()[job.axis], job.input->strides()[job.axis],
            job.result->strides()[job.axis], 1};
  for (const JobAxis& axis : axes) line.lines *= axis.extent;
  line.chunks = (line.length + scan_chunk - 1) / scan_chunk;
  CudaShape shape{};
  shape.kernel = job.kernel;
  shape.result = job.result->dtype();
  shape.form = CudaShape::Form::scan;
  shape.kept = static_cast<int>(axes.size());
  shape.gone = 1;
  shape.is_large = line.lines > INT32_MAX;
  axes.push_back({});  // none goes
  const Device device = job.result->device();
  const Stream stream = Stream::current(device);
  const ReduceKernels& kernels = reduce_kernels(shape, device);
  order_use(stream, *job.input, false);
  order_use(stream, *job.result, true);
  const KernelArg input = reduce_address(job.input->data()),
                  result = reduce_address(job.result->data()),
                  packed_axes = KernelArg::bytes(std::as_bytes(std::span(axes))),
                  packed_line = KernelArg::bytes(std::as_bytes(std::span(&line, 1)));
  if (line.lines >= many_lines || line.length <= short_line) {
    const std::int64_t blocks = (line.lines + scan_block - 1) / scan_block;
    (*kernels.lines)({{blocks}, {scan_block}, 0, stream},
                     {input, result, packed_axes, packed_line});
    return;
  }
  const std::int64_t blocks = line.lines * line.chunks;
  const bool is_cut = line.chunks > 1;
  const std::int64_t room = is_cut ? blocks * accumulator_bytes(job.kernel) : 0;
  const Array parts = empty(Shape{room}, uint8, device);
  const KernelArg parts_address = reduce_address(is_cut ? parts.data() : nullptr);
  if (is_cut) {
    order_use(stream, parts, true);
    (*kernels.totals)({{blocks}, {scan_block}, 0, stream},
                      {input, parts_address, packed_axes, packed_line});
    (*kernels.carries)({{line.lines}, {scan_block}, 0, stream}, {parts_address, packed_line});
  }
  kernels.run({{blocks}, {scan_block}, 0, stream},
              {input, result, parts_address, packed_axes, packed_line});
}

}  // namespace spanwise::ops::reduce
