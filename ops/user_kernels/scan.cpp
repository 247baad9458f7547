// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "scan.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "embedded/user_kernel_text.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"
#include "spanwise/stream.hpp"
#include "words.hpp"

namespace spanwise::ops::user_kernels {

struct ScanKernel::Plan {
  Device device;
  int line_rank;
  Function totals, carries, run;
};

namespace {

constexpr std::int64_t gpu_threads = 256, gpu_items = 8, cpu_tile = 1 << 15;

// What both devices' texts lean on; RANK is that of the walk over lines.
constexpr const char* scan_common = R"(
#define sw_scan_parameters const T* sw_x, T* sw_z, const sw_scan_walk sw_walk, long long sw_x_step, \
    long long sw_z_step, long long sw_length, long long sw_tiles, long long sw_per_tile, T* sw_totals
#define sw_scan_arguments sw_x, sw_z, sw_walk, sw_x_step, sw_z_step, sw_length, sw_tiles, \
    sw_per_tile, sw_totals
// The tile of the calling block, and where its line begins.
struct sw_scan_tile {
  long long number, x, z;
  __device__ sw_scan_tile(const sw_scan_walk& walk, long long tiles)
      : number(blockIdx.x % tiles), x(0), z(0) {
    long long rest = blockIdx.x / tiles;
    for (int axis = sw_scan_rank - 1; axis >= 0; --axis) {
      const long long place = axis > 0 ? rest % walk.shape[axis] : rest;
      rest /= walk.shape[axis];
      x += place * walk.s0[axis];
      z += place * walk.s1[axis];
    }
  }
  __device__ long long first(long long per_tile) const { return number * per_tile; }
  __device__ long long count(long long length, long long per_tile) const {
    const long long left = length - first(per_tile);
    return left < per_tile ? left : per_tile;
  }
};
)";

std::string_view scan_text(std::string_view name) {
  for (const auto& file : embedded::user_kernel_text)
    if (std::string_view(file.name).ends_with(name)) return file.text;
  return {};
}

// The output shares bytes with the input, but not element by element.
bool must_be_read_first(const Array& input, const Array& output) {
  return may_share_memory(input, output) && !is_same_window(input, output);
}

}  // namespace

ScanKernel::ScanKernel(ScanSpec spec) : spec_(std::move(spec)), who_(checked_who(spec_.common)) {
  require<ArgumentError>(!spec_.scan_expr.empty(), who_,
                         ": expected scan_expr such as \"a + b\", got nothing");
  require<ArgumentError>(!spec_.is_exclusive || !spec_.neutral.empty(), who_,
                         ": an exclusive scan begins with the neutral element, and none was given; "
                         "pass neutral, such as \"0\" for a sum");
  element_ = type_named(who_, spec_.type, "");
  require<ArgumentError>(element_.dtype.has_value(), who_, ": expected a dtype, got '", spec_.type,
                         "'");
}

ScanKernel::~ScanKernel() = default;

std::string ScanKernel::source(int line_rank, bool on_gpu) const {
  const std::string& name = spec_.common.name;
  const std::string result =
      spec_.is_exclusive ? text("return has_before ? before : static_cast<T>(", spec_.neutral, ");")
                         : "return through;";
  std::string types = text("typedef ", element_.type, " sw_element;\n");
  types += walk_struct("sw_scan_walk", line_rank, 2);
  types += text("constexpr int sw_scan_rank = ", line_rank, ", sw_threads = ", gpu_threads,
                ", sw_items = ", gpu_items, ";\n");
  types += text(
      "__device__ inline sw_element sw_combine(sw_element a, sw_element b) {\n"
      "  return static_cast<sw_element>(",
      numbered(text("scan_expr of ", name), spec_.scan_expr), ");\n}\n");
  types += "namespace sw_scan {\ntypedef sw_element T;\n";
  types += text("__device__ inline T sw_scan_result(bool has_before, T before, T through) {\n  ",
                result, "\n}\n", scan_common, scan_text(on_gpu ? "scan_gpu.cuh" : "scan_cpu.cuh"));
  types += "}\n";
  std::string kernels;
  for (const char* part : {"totals", "carries", "run"})
    kernels +=
        text("extern \"C\" __global__ void ", name, "_", part,
             "(const sw_element* sw_x, sw_element* sw_z, const sw_scan_walk sw_walk, long long "
             "sw_x_step, long long sw_z_step, long long sw_length, long long sw_tiles, long long "
             "sw_per_tile, sw_element* sw_totals) {\n  sw_scan::sw_scan_",
             part, "(sw_scan_arguments);\n}\n");
  return opening(spec_.common, {}, types) + kernels;
}

const ScanKernel::Plan& ScanKernel::plan_for(Device device, int line_rank) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(plans_.begin(), plans_.end(), [&](const Plan& plan) {
    return plan.device == device && plan.line_rank == line_rank;
  });
  if (found != plans_.end()) return *found;
  const std::string words = source(line_rank, device.is_cuda() || spec_.common.as_on_gpu);
  const auto get = [&](const char* part) {
    return compiled(spec_.common, words, text(spec_.common.name, "_", part), device,
                    spec_.scan_expr);
  };
  plans_.push_front({device, line_rank, get("totals"), get("carries"), get("run")});
  return plans_.front();
}

void ScanKernel::check(const Array& input, const Array& output) const {
  for (const Array* array : {&input, &output})
    require<DTypeError>(array->dtype() == *element_.dtype, who_, ": expected arrays of ",
                        *element_.dtype, ", got ", array->dtype(), "; convert with .astype(\"",
                        *element_.dtype, "\")");
  require<LayoutError>(input.shape() == output.shape(), who_, ": expected an output of shape ",
                       input.shape(), ", got ", output.shape());
  require<DeviceError>(input.device().is_cuda() == output.device().is_cuda() &&
                           (!input.device().is_cuda() || input.device() == output.device()),
                       who_, ": the input is on ", input.device(), " and the output on ",
                       output.device(), "; move one with .to()");
  require<ReadOnlyError>(!output.readonly(), who_,
                         ": the owner of the output handed it out for reading only; pass "
                         "another, or output=\"new\"");
  require<LayoutError>(output.layout().is_row_major() || !output.layout().may_overlap_itself(),
                       who_, ": the output has several elements in one place: ", output,
                       "; pass a copy");
  require<LayoutError>(input.rank() > 0, who_,
                       ": expected an array with an axis to go along, got one of rank 0");
}

void ScanKernel::operator()(const Array& given, const Array& output, int axis) const {
  check(given, output);
  axis = given.layout().normalise_axis(axis);
  if (given.size() == 0) return;
  std::optional<Array> apart;
  if (must_be_read_first(given, output)) apart.emplace(copy(given));
  const Array& input = apart ? *apart : given;
  const Device device = output.device().is_cuda() ? output.device() : cpu;
  const Layout in_lines = input.layout().index(axis, 0), out_lines = output.layout().index(axis, 0);
  const std::array<const Layout*, 2> layouts{&in_lines, &out_lines};
  const Walk lines(in_lines.shape, layouts, 1);
  const Plan& plan = plan_for(device, lines.rank());

  const std::int64_t length = input.shape()[axis];
  const bool on_gpu = device.is_cuda() || spec_.common.as_on_gpu;
  const std::int64_t per_tile = on_gpu ? gpu_threads * gpu_items : cpu_tile;
  const std::int64_t tiles = (length - 1) / per_tile + 1;
  const Stream stream = Stream::current(device);
  order_use(stream, input, false);
  order_use(stream, output, true);
  std::optional<Array> totals;
  if (tiles > 1) {
    totals.emplace(empty(Shape{tiles * lines.size()}, *element_.dtype, device));
    order_use(stream, *totals, true);
  }
  PackedNumbers numbers;
  numbers.reserve(static_cast<std::size_t>(3 * lines.rank()));
  const std::vector<KernelArg> arguments{address_of(input),
                                         address_of(output),
                                         numbers.walk(lines),
                                         KernelArg(input.strides()[axis]),
                                         KernelArg(output.strides()[axis]),
                                         KernelArg(length),
                                         KernelArg(tiles),
                                         KernelArg(per_tile),
                                         totals ? address_of(*totals) : KernelArg::address(0)};
  const std::int64_t threads = on_gpu ? gpu_threads : 1;
  const auto launch = [&](const Function& kernel, std::int64_t blocks) {
    kernel.launch({{blocks, 1, 1}, {threads, 1, 1}, 0, stream}, arguments);
  };
  if (tiles > 1) {
    launch(plan.totals, tiles * lines.size());
    launch(plan.carries, lines.size());
  }
  launch(plan.run, tiles * lines.size());
}

}  // namespace spanwise::ops::user_kernels
