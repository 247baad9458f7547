// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <span>
#include <vector>

#include "../reduce_job.hpp"
#include "reduce_kernels.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/scan.hpp"
#include "spanwise/runtime/stream.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::ops::reduce {
namespace {

/// Lines up to this length are scanned by one thread each.
constexpr std::int64_t short_line = 32;
/// Scans of columns: threads per block, threads that fill a large GPU, and the minimum of elements
/// per thread.
constexpr std::int64_t column_threads = 256, enough_scan_threads = 1 << 17, min_chunk = 64;

/// struct ScanLines of scans.cuh.
struct ScanLines {
  std::int64_t lines, length, step, result_step, chunks, chunk;
};

// The axes other than the scanned one, over which the kernels count lines.
std::vector<JobAxis> line_axes(const ScanJob& job) {
  const Layout input = job.input->layout().index(job.axis, 0);
  const Layout result = job.result->layout().index(job.axis, 0);
  const Layout* const layouts[] = {&input, &result};
  const Walk walk(input.shape, layouts, 0);
  std::vector<JobAxis> axes;
  for (int i = 0; i < walk.rank(); ++i)
    axes.push_back(
        {.extent = walk.extent(i), .input = walk.stride(i, 0), .result = walk.stride(i, 1)});
  return axes;
}

class CudaScan {
 public:
  explicit CudaScan(const ScanJob& job)
      : job_(job), axes_(line_axes(job)), device_(job.result->device()) {
    line_ = {1,
             job.input->shape()[job.axis],
             job.input->strides()[job.axis],
             job.result->strides()[job.axis],
             1,
             1};
    for (const JobAxis& axis : axes_) line_.lines *= axis.extent;
    shape_.types = job.types;
    shape_.result = job.result->dtype();
    shape_.kept = static_cast<int>(axes_.size());
    shape_.reduced = 1;
    shape_.is_large = line_.lines > INT32_MAX;
    choose_form();
    axes_.push_back({});  // no axis is reduced
  }

  void run() {
    order_use(stream_, *job_.input, false);
    order_use(stream_, *job_.result, true);
    if (shape_.form == CudaShape::Form::scan_columns) return run_columns();
    if (shape_.is_packed) {
      const ScanPipeline pipeline(device_, line_.lines, line_.length, job_.types.element.itemsize(),
                                  shape_.result.itemsize(), accumulator_bytes(shape_));
      if (pipeline.blocks > 0) return run_pipelined(pipeline);
    }
    const ReduceKernels& kernels = reduce_kernels(shape_, device_);
    const ScanLaunch launch(line_.lines, line_.length, job_.types.element.itemsize(),
                            shape_.result.itemsize(), accumulator_bytes(shape_));
    line_.chunks = launch.chunks;
    const LaunchConfig config{{launch.blocks}, {scan_threads}, launch.shared_bytes, stream_};
    if (launch.by_warps) return (*kernels.lines)(config, {input(), result(), axes(), line()});
    const Array words = ordered(zeros(Shape{launch.words}, uint64, device_));
    kernels.run(config,
                {input(), result(), reduce_address(launch.words > 0 ? words.data() : nullptr),
                 axes(), line()});
  }

 private:
  void choose_form() {
    const JobAxis& fastest = axes_.back();
    const bool is_column =
        std::abs(fastest.input) == 1 && fastest.extent >= 32 && std::abs(line_.step) > 1;
    if (is_column || line_.length <= short_line) {
      shape_.form = CudaShape::Form::scan_columns;
      const std::int64_t chunks = std::max<std::int64_t>(enough_scan_threads / line_.lines, 1);
      line_.chunk = std::max(ceil_div(line_.length, chunks), min_chunk);
      line_.chunks = ceil_div(line_.length, line_.chunk);
    } else {
      shape_.form = CudaShape::Form::scan;
      shape_.is_packed = is_packed_layout();
    }
  }

  // Whether lines are contiguous in input and result, and each starts at an aligned address.
  bool is_packed_layout() const {
    const auto address = [](const Array& array) {
      return reinterpret_cast<std::uintptr_t>(array.data());
    };
    const int element = job_.types.element.itemsize(), stored = shape_.result.itemsize();
    bool is_packed = line_.step == 1 && line_.result_step == 1;
    is_packed &= address(*job_.input) % 16 == 0 && address(*job_.result) % 16 == 0;
    for (const JobAxis& axis : axes_)
      is_packed &= axis.input % scan_pack(element, stored) == 0 &&
                   axis.result % scan_pack(stored, element) == 0;
    return is_packed;
  }

  void run_pipelined(const ScanPipeline& pipeline) {
    shape_.is_pipelined = true;
    line_.chunks = pipeline.chunks;
    const Array words = ordered(zeros(Shape{pipeline.words}, uint64, device_));
    reduce_kernels(shape_, device_)
        .run({{pipeline.blocks}, {pipeline.threads}, pipeline.shared_bytes, stream_},
             {input(), result(), reduce_address(words.data()), axes(), line()});
  }

  void run_columns() {
    const ReduceKernels& kernels = reduce_kernels(shape_, device_);
    const std::int64_t across = ceil_div(line_.lines, column_threads);
    const bool is_split = line_.chunks > 1;
    const std::int64_t part_count = is_split ? line_.lines * line_.chunks : 0;
    const Array parts =
        ordered(empty(Shape{part_count * accumulator_bytes(shape_)}, uint8, device_));
    const KernelArg sums = reduce_address(is_split ? parts.data() : nullptr);
    if (is_split) {
      launch_columns(*kernels.totals, across * line_.chunks, {input(), sums, axes(), line()});
      launch_columns(*kernels.carries, across, {sums, line()});
    }
    launch_columns(kernels.run, across * line_.chunks, {input(), result(), sums, axes(), line()});
  }

  // Scratch memory, ready for use on the stream.
  Array ordered(Array scratch) const {
    if (scratch.size() > 0) order_use(stream_, scratch, true);
    return scratch;
  }
  void launch_columns(const Kernel& kernel, std::int64_t blocks,
                      std::initializer_list<KernelArg> arguments) const {
    kernel({{blocks}, {column_threads}, 0, stream_}, arguments);
  }
  KernelArg input() const { return reduce_address(job_.input->data()); }
  KernelArg result() const { return reduce_address(job_.result->data()); }
  KernelArg axes() const { return KernelArg::bytes(std::as_bytes(std::span(axes_))); }
  KernelArg line() const { return KernelArg::bytes(std::as_bytes(std::span(&line_, 1))); }

  const ScanJob& job_;
  std::vector<JobAxis> axes_;
  Device device_;
  Stream stream_ = Stream::current(device_);
  ScanLines line_{};
  CudaShape shape_{};
};

}  // namespace

void scan_on_cuda(const ScanJob& job) { CudaScan(job).run(); }

}  // namespace spanwise::ops::reduce
