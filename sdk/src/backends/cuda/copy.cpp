// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <vector>

#include "backends/cuda/copy_kernels.hpp"
#include "backends/cuda/copy_plan.hpp"
#include "backends/cuda/stream.hpp"

namespace spanwise::cuda {
namespace {

std::byte* start(const Array& array, std::int64_t offset) {
  return static_cast<std::byte*>(array.data()) + offset;
}

CUdeviceptr address(const void* data) { return reinterpret_cast<CUdeviceptr>(data); }

// The bytes of device/copy.cuh's Axes<Index, Offset, rank>: extents, source strides, target
// strides.
template <class Integer>
std::vector<std::byte> pack_axes(const std::vector<CopyAxis>& axes) {
  std::vector<Integer> values;
  values.reserve(3 * axes.size());
  for (const CopyAxis& axis : axes) values.push_back(static_cast<Integer>(axis.extent));
  for (const CopyAxis& axis : axes) values.push_back(static_cast<Integer>(axis.source_stride));
  for (const CopyAxis& axis : axes) values.push_back(static_cast<Integer>(axis.target_stride));
  std::vector<std::byte> bytes(values.size() * sizeof(Integer));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// What the kernels take besides pointers: the number of units as an Index, and the axes.
struct PlanArguments {
  explicit PlanArguments(const CopyPlan& plan)
      : axes(plan.wide ? pack_axes<std::int64_t>(plan.axes) : pack_axes<std::int32_t>(plan.axes)) {
    const std::int64_t wide = plan.size();
    const auto narrow = static_cast<std::int32_t>(wide);
    plan.wide ? std::memcpy(size, &wide, sizeof wide) : std::memcpy(size, &narrow, sizeof narrow);
  }
  alignas(8) std::byte size[8] = {};
  std::vector<std::byte> axes;
};

std::int64_t blocks_for(std::int64_t count, std::int64_t per_block) {
  return (count + per_block - 1) / per_block;
}

void launch_strided(runtime::LoadedKernel& kernel, const CopyPlan& plan, std::byte* source,
                    std::byte* target, CudaStream& stream) {
  PlanArguments plan_arguments(plan);
  std::array<void*, 4> arguments{&source, &target, plan_arguments.size, plan_arguments.axes.data()};
  const std::int64_t per_block = std::int64_t{copy_threads} * units_per_thread(plan);
  kernel.launch({blocks_for(plan.size(), per_block)}, {copy_threads}, 0, stream, arguments.data());
}

void launch_tiled(runtime::LoadedKernel& kernel, const CopyPlan& plan, std::byte* source,
                  std::byte* target, CudaStream& stream) {
  constexpr std::int64_t side = 32, rows = 8;  // tile_side, tile_rows of device/copy.cuh
  PlanArguments plan_arguments(plan);
  std::array<void*, 3> arguments{&source, &target, plan_arguments.axes.data()};
  std::int64_t blocks = 1;
  for (std::size_t i = 0; i < plan.axes.size(); ++i) {
    const bool tiled = i + 2 >= plan.axes.size();
    blocks *= tiled ? blocks_for(plan.axes[i].extent, side) : plan.axes[i].extent;
  }
  kernel.launch({blocks}, {side, rows}, 0, stream, arguments.data());
}

// The value's bytes as a pattern of at most four, where it repeats.
bool repeats(const std::byte* bytes, int size, int pattern) {
  for (int i = pattern; i < size; ++i) {
    if (bytes[i] != bytes[i - pattern]) return false;
  }
  return true;
}

// A run of `count` values by the driver's own fills; false where those cannot write the value.
bool fill_run(DeviceContext& context, std::byte* target, const std::byte* value, int size,
              std::int64_t count, CUstream stream) {
  const DriverApi& api = context.api;
  const auto bytes = static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
  std::uint32_t word = 0;
  std::memcpy(&word, value, static_cast<std::size_t>(size < 4 ? size : 4));
  CUresult code = CUDA_SUCCESS;
  if (repeats(value, size, 1)) {
    code = api.memset_d8_async(address(target), static_cast<unsigned char>(word), bytes, stream);
  } else if (size == 2 || (size > 2 && repeats(value, size, 2))) {
    code =
        api.memset_d16_async(address(target), static_cast<unsigned short>(word), bytes / 2, stream);
  } else if (size >= 4 && repeats(value, size, 4)) {
    code = api.memset_d32_async(address(target), word, bytes / 4, stream);
  } else {
    return false;
  }
  check(api, code, "filling ", bytes, " bytes on ", context.device);
  return true;
}

}  // namespace

void copy(DeviceContext& context, const Array& source, const Array& target, CudaStream& stream) {
  const CopyPlan plan = plan_copy(source, target);
  if (plan.kind == CopyPlan::Kind::nothing) return;
  std::byte *from = start(source, plan.source_offset), *to = start(target, plan.target_offset);
  const ContextGuard guard(context);
  if (plan.kind == CopyPlan::Kind::block) {
    const auto bytes =
        static_cast<std::size_t>(plan.size()) * static_cast<std::size_t>(plan.source_unit);
    check(context.api,
          context.api.memcpy_dtod_async(address(to), address(from), bytes, stream.raw()),
          "copying ", bytes, " bytes within ", context.device);
    return;
  }
  const DType from_dtype = source.dtype(), to_dtype = target.dtype();
  runtime::LoadedKernel& kernel =
      context.copy_kernels().get(copy_kernel_key(plan, from_dtype, to_dtype),
                                 [&] { return copy_kernel_text(plan, from_dtype, to_dtype); });
  const bool tiled = plan.kind == CopyPlan::Kind::tiled;
  (tiled ? launch_tiled : launch_strided)(kernel, plan, from, to, stream);
}

void fill(DeviceContext& context, const Array& target, const Scalar& value, CudaStream& stream) {
  const CopyPlan plan = plan_fill(target);
  if (plan.kind == CopyPlan::Kind::nothing) return;
  std::byte* to = start(target, plan.target_offset);
  const Scalar element = value.cast(target.dtype());
  const auto* bytes = static_cast<const std::byte*>(element.data());
  const ContextGuard guard(context);
  if (plan.kind == CopyPlan::Kind::block &&
      fill_run(context, to, bytes, plan.target_unit, plan.size(), stream.raw())) {
    return;
  }
  runtime::LoadedKernel& kernel =
      context.copy_kernels().get(fill_kernel_key(plan), [&] { return fill_kernel_text(plan); });
  alignas(16) std::byte unit[16];
  std::memcpy(unit, bytes, sizeof unit);
  PlanArguments plan_arguments(plan);
  std::array<void*, 4> arguments{&to, unit, plan_arguments.size, plan_arguments.axes.data()};
  kernel.launch({blocks_for(plan.size(), copy_threads)}, {copy_threads}, 0, stream,
                arguments.data());
}

}  // namespace spanwise::cuda
