// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <optional>
#include <span>
#include <utility>

#include "embedded/kernel_expression_text.hpp"
#include "kernel_expressions/expression_parameters.hpp"
#include "kernel_expressions/expression_source.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/scan.hpp"
#include "spanwise/runtime/stream.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::kernel_expressions {

struct ScanKernel::Variant {
  Device device;
  int line_rank;
  ScanAccess access;

  friend bool operator==(const Variant&, const Variant&) = default;
};

struct ScanKernel::Kernels {
  // With GPU code: `run`, and `lines` unless pipelined. With CPU code: `totals`, `carries` and
  // `run`.
  std::optional<Kernel> totals, carries, lines;
  Kernel run;
};

namespace {

constexpr std::int64_t cpu_tile = 1 << 15;  // elements that a thread scans at a time

// Source for both devices.
constexpr const char* scan_common = R"(
// The offsets of the first element of a line.
struct sw_scan_line {
  long long x, z;
  __device__ sw_scan_line(const sw_scan_walk& walk, long long line) {
    const auto at = spanwise::walk_offsets(walk, (unsigned long long)line);
    x = at.of[0], z = at.of[1];
  }
};
)";

}  // namespace

ScanKernel::ScanKernel(ScanSpec spec)
    : spec_(std::move(spec)), label_(checked_label(spec_.common)) {
  if (spec_.scan_expr.empty())
    fail<ArgumentError>(label_, ": expected scan_expr such as \"a + b\", got nothing");
  if (spec_.is_exclusive && spec_.neutral.empty())
    fail<ArgumentError>(label_,
                        ": an exclusive scan needs neutral, got none; pass it, such as \"0\" for a "
                        "sum");
  element_ = parse_type(label_, spec_.type, "");
  if (!element_.dtype.has_value())
    fail<ArgumentError>(label_, ": expected a dtype, got '", spec_.type,
                        "'; pass one such as \"float32\"");
}

ScanKernel::~ScanKernel() = default;

// The arguments of a checked call. `lines` is the walk over the first elements of the lines along
// `axis`, of both arrays.
struct ScanKernel::Job {
  const Array &input, &output;
  const Walk& lines;
  int axis;
  Stream stream;

  // Whether each line is contiguous and begins at an aligned address in both arrays.
  bool is_packed_layout() const {
    const auto is_aligned = [&](const Array& array, int operand) {
      const int item = array.dtype().itemsize();
      bool aligned =
          array.strides()[axis] == 1 && reinterpret_cast<std::uintptr_t>(array.data()) % 16 == 0;
      for (int k = 0; k < lines.rank(); ++k)
        aligned &= lines.extent(k) == 1 || lines.stride(k, operand) % scan_pack(item, item) == 0;
      return aligned;
    };
    return is_aligned(input, 0) && is_aligned(output, 1);
  }
};

bool ScanKernel::uses_gpu_code(Device device) const {
  return !runs_on_host(device) || spec_.common.use_gpu_code;
}

std::string ScanKernel::source(int line_rank, bool on_gpu, ScanAccess access) const {
  const std::string& name = spec_.common.name;
  const std::string result =
      spec_.is_exclusive ? text("return has_before ? before : static_cast<T>(", spec_.neutral, ");")
                         : "return through;";
  std::string types = text("typedef ", element_.type, " sw_element;\n");
  types +=
      text("typedef spanwise::StridedWalk<", line_rank, ", 2> sw_scan_walk;\n",
           "constexpr bool sw_packed = ", access == ScanAccess::strided ? "false" : "true", ";\n");
  types += text(
      "__device__ inline sw_element sw_combine(sw_element a, sw_element b) {\n"
      "  return static_cast<sw_element>(",
      with_line_directives(text("scan_expr of ", name), spec_.scan_expr), ");\n}\n");
  types += "namespace sw_scan {\ntypedef sw_element T;\n";
  types += text("__device__ inline T sw_scan_result(bool has_before, T before, T through) {\n  ",
                result, "\n}\n", scan_common,
                without_user_macros(spec_.common,
                                    embedded::file_text(embedded::kernel_expression_text,
                                                        on_gpu ? "scan_gpu.cuh" : "scan_cpu.cuh")));
  types += "}\n";
  std::string kernels;
  const auto add = [&](const char* part, const std::string& bounds) {
    kernels +=
        text("namespace sw_scan {\nextern \"C\" __global__ void ", bounds, " ", name, "_", part,
             "(sw_scan_parameters) {\n  sw_scan_", part, "(sw_scan_arguments);\n}\n}\n");
  };
  if (on_gpu) {
    if (access == ScanAccess::pipelined) {
      add("run", "__launch_bounds__(spanwise::pipeline_threads, 1)");
    } else {
      add("run", "__launch_bounds__(spanwise::scan_threads, 4)");
      add("lines", "__launch_bounds__(spanwise::scan_threads, 8)");
    }
  } else {
    for (const char* part : {"totals", "carries", "run"}) add(part, "");
  }
  return text("#include <spanwise/walk.cuh>\n",
              !on_gpu                           ? ""
              : access == ScanAccess::pipelined ? "#include <spanwise/scan_pipeline.cuh>\n"
                                                : "#include <spanwise/scan.cuh>\n",
              prologue(spec_.common, {}, types), kernels);
}

const ScanKernel::Kernels& ScanKernel::kernels_for(const Variant& variant) const {
  return kernels_.get(variant, [&] {
    const bool on_gpu = uses_gpu_code(variant.device);
    const std::string code = source(variant.line_rank, on_gpu, variant.access);
    const auto get = [&](const char* part) {
      return compiled(spec_.common, code, text(spec_.common.name, "_", part), variant.device,
                      spec_.scan_expr);
    };
    if (variant.access == ScanAccess::pipelined) return Kernels{{}, {}, {}, get("run")};
    if (on_gpu) return Kernels{{}, {}, get("lines"), get("run")};
    return Kernels{get("totals"), get("carries"), {}, get("run")};
  });
}

void ScanKernel::check(const Array& input, const Array& output) const {
  for (const Array* array : {&input, &output})
    if (array->dtype() != *element_.dtype)
      fail<DTypeError>(label_, ": expected arrays of ", *element_.dtype, ", got ", array->dtype(),
                       "; convert with .astype(\"", *element_.dtype, "\")");
  if (input.shape() != output.shape())
    fail<LayoutError>(label_, ": expected an output of shape ", input.shape(), ", got ",
                      output.shape(), "; pass an array of that shape");
  if (!work_together(input.device(), output.device()))
    fail<DeviceError>(label_, ": the input is on ", input.device(), " and the output on ",
                      output.device(), "; move one with .to()");
  if (output.readonly())
    fail<ReadOnlyError>(label_,
                        ": the output is read-only; pass a writable one, or output=\"new\"");
  if (!output.layout().is_row_major() && output.layout().may_overlap_itself())
    fail<LayoutError>(label_, ": several elements of the output share an address: ", output,
                      "; pass a copy");
  if (input.rank() == 0)
    fail<LayoutError>(label_,
                      ": expected an array of rank 1 or more, got rank 0; pass x.reshape(1)");
}

void ScanKernel::operator()(const Array& source, const Array& output, int axis) const {
  check(source, output);
  axis = source.layout().normalise_axis(axis);
  if (source.size() == 0) return;
  std::optional<Array> temporary;
  if (overlaps_partially(source, output)) temporary.emplace(copy(source));
  const Array& input = temporary ? *temporary : source;
  const Device device = runs_on_host(output.device()) ? cpu : output.device();
  const Layout in_lines = input.layout().index(axis, 0), out_lines = output.layout().index(axis, 0);
  const std::array<const Layout*, 2> layouts{&in_lines, &out_lines};
  const Walk lines(in_lines.shape, layouts, 1);
  const Stream stream = Stream::current(device);
  order_use(stream, input, false);
  order_use(stream, output, true);
  const Job job{input, output, lines, axis, stream};
  if (uses_gpu_code(device))
    scan_with_gpu_code(job);
  else
    scan_on_cpu(job);
}

void ScanKernel::scan_with_gpu_code(const Job& job) const {
  const int item = element_.dtype->itemsize();
  const std::int64_t length = job.input.shape()[job.axis], lines = job.lines.size();
  const std::int64_t steps[] = {job.input.strides()[job.axis], job.output.strides()[job.axis]};
  const Device device = job.stream.device();
  const int accumulator = (item + 4 + 7) / 8 * 8;  // the size of Acc of scan_gpu.cuh
  const ScanPipeline pipeline(device, lines, length, item, item, accumulator);
  const ScanLaunch blocks(lines, length, item, item, accumulator);
  const ScanAccess access = !job.is_packed_layout() ? ScanAccess::strided
                            : pipeline.blocks > 0   ? ScanAccess::pipelined
                                                    : ScanAccess::packed;
  const bool is_pipelined = access == ScanAccess::pipelined;
  const std::int64_t count = is_pipelined ? pipeline.words : blocks.words;
  const Array words = zeros(Shape{count}, uint64, device);
  if (count > 0) order_use(job.stream, words, true);
  const std::int64_t line[] = {length, steps[0], steps[1]};
  ParameterValues values;
  values.add_address(job.input);
  values.add_address(job.output);
  values.add_walk(job.lines);
  values.add(line);
  values.add(&lines);
  values.add(is_pipelined ? &pipeline.chunks : &blocks.chunks);
  if (count > 0)
    values.add_address(words);
  else
    values.add_null();
  const Kernels& kernels = kernels_for({device, job.lines.rank(), access});
  const Kernel& kernel = !is_pipelined && blocks.by_warps ? *kernels.lines : kernels.run;
  LaunchConfig config{{blocks.blocks}, {scan_threads}, blocks.shared_bytes, job.stream};
  if (is_pipelined)
    config = {{pipeline.blocks}, {pipeline.threads}, pipeline.shared_bytes, job.stream};
  variables_.around(kernel, [&] { kernel.launch_raw(config, values.all()); });
}

void ScanKernel::scan_on_cpu(const Job& job) const {
  const Kernels& kernels =
      kernels_for({job.stream.device(), job.lines.rank(), ScanAccess::strided});
  const std::int64_t length = job.input.shape()[job.axis], lines = job.lines.size();
  const std::int64_t tiles = (length - 1) / cpu_tile + 1;
  std::optional<Array> totals;
  if (tiles > 1) {
    totals.emplace(empty(Shape{tiles * lines}, *element_.dtype, cpu));
    order_use(job.stream, *totals, true);
  }
  const std::int64_t numbers[] = {job.input.strides()[job.axis], job.output.strides()[job.axis],
                                  length, tiles, cpu_tile};
  ParameterValues values;
  values.add_address(job.input);
  values.add_address(job.output);
  values.add_walk(job.lines);
  for (const std::int64_t& number : numbers) values.add(&number);
  if (totals)
    values.add_address(*totals);
  else
    values.add_null();
  const auto launch = [&](const Kernel& kernel, std::int64_t blocks) {
    variables_.around(kernel, [&] {
      kernel.launch_raw({{blocks, 1, 1}, {1, 1, 1}, 0, job.stream}, values.all());
    });
  };
  if (tiles > 1) {
    launch(*kernels.totals, tiles * lines);
    launch(*kernels.carries, lines);
  }
  launch(kernels.run, tiles * lines);
}

}  // namespace spanwise::kernel_expressions
