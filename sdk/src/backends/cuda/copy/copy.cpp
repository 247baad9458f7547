// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <initializer_list>

#include "backends/cuda/copy/copy_kernels.hpp"
#include "backends/cuda/copy/copy_plan.hpp"
#include "backends/cuda/launch/launch_tuner.hpp"
#include "backends/cuda/stream.hpp"
#include "runtime/element_loops.hpp"

namespace spanwise::cuda {
namespace {

std::byte* start(const Array& array, std::int64_t offset) {
  return static_cast<std::byte*>(array.data()) + offset;
}

CUdeviceptr address(const void* data) { return reinterpret_cast<CUdeviceptr>(data); }

// An Index or Offset of device/copy.cuh.
struct Integer {
  alignas(8) std::byte bytes[8] = {};

  Integer(std::int64_t value, bool wide) {
    const auto narrow = static_cast<std::int32_t>(value);
    wide ? std::memcpy(bytes, &value, sizeof value) : std::memcpy(bytes, &narrow, sizeof narrow);
  }
};

// The bytes of Axes<Index, Offset, rank> of device/copy.cuh.
class PackedAxes {
 public:
  explicit PackedAxes(const CopyPlan& plan) {
    plan.wide ? pack<std::int64_t>(plan.axes) : pack<std::int32_t>(plan.axes);
  }
  void* data() noexcept { return bytes_.data(); }

 private:
  template <class Number>
  void pack(const CopyAxes& axes) {
    for (const CopyAxis& axis : axes) add(static_cast<Number>(axis.extent));
    for (const CopyAxis& axis : axes) add(static_cast<Number>(axis.source_stride));
    for (const CopyAxis& axis : axes) add(static_cast<Number>(axis.target_stride));
    for (const CopyAxis& axis : axes) add(fast_divisor(axis.extent).multiplier);
    for (const CopyAxis& axis : axes) add(fast_divisor(axis.extent).shift);
  }
  template <class Number>
  void add(Number value) {
    std::memcpy(bytes_.data() + size_, &value, sizeof value);
    size_ += sizeof value;
  }

  static constexpr std::size_t max_axes = max_rank + 1;
  // Only the first size_ are set.
  alignas(
      8) std::array<std::byte, max_axes * (3 * sizeof(std::int64_t) + 2 * sizeof(unsigned))> bytes_;
  std::size_t size_ = 0;
};

void launch(runtime::LoadedKernel& kernel, const CopyPlan& plan, std::byte* source,
            std::byte* target, CudaStream& stream) {
  PackedAxes axes(plan);
  Integer step(plan.step, plan.wide), size(plan.size(), plan.wide), chunk(plan.chunk, plan.wide),
      length(plan.length, plan.wide);
  int inner = plan.inner;
  const std::byte *begin = source + plan.source_begin, *end = source + plan.source_end;
  std::array<void*, 7> arguments{&source, &target};
  std::size_t count = 2;
  const auto add = [&](std::initializer_list<void*> more) {
    for (void* argument : more) arguments[count++] = argument;
  };
  if (plan.kind == CopyPlan::Kind::strided) add({step.bytes, size.bytes});
  if (plan.kind == CopyPlan::Kind::thin) add({chunk.bytes});
  if (plan.kind == CopyPlan::Kind::small_arrays) add({chunk.bytes, &inner});
  if (plan.kind == CopyPlan::Kind::aligned_chunks) add({length.bytes, &begin, &end, size.bytes});
  add({axes.data()});
  kernel.launch({plan.blocks(copy_threads, units_per_thread(plan))}, {copy_threads}, 0, stream,
                arguments.data());
}

// Whether the value's bytes repeat a pattern of `pattern` bytes.
bool repeats(const std::byte* bytes, int size, int pattern) {
  for (int i = pattern; i < size; ++i) {
    if (bytes[i] != bytes[i - pattern]) return false;
  }
  return true;
}

// Fills `count` contiguous values with the driver's memset functions; false if these cannot write
// the value.
bool fill_run(DeviceContext& context, std::byte* target, const std::byte* value, int size,
              std::int64_t count, CUstream stream) {
  const DriverApi& api = context.api;
  const ContextGuard guard(context);
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

// The driver's copy takes more host time than a kernel launched as a graph: 3.7 us and 1.5 us
// (H200). For more bytes than this the device takes longer than both.
constexpr std::int64_t max_bytes_by_kernel = 1 << 20;

bool is_faster_by_kernel(DeviceContext& context, const CopyPlan& plan) {
  return plan.size() * plan.source_unit <= max_bytes_by_kernel &&
         context.launch_tuner().plan().way == LaunchPath::graph;
}

void copy(const Array& source, const Array& target, runtime::StreamState& on) {
  DeviceContext& context = DeviceContext::of(on.device().ordinal());
  CudaStream& stream = cuda_stream(context, on);
  CopyPlan plan = plan_copy(source, target);
  if (plan.kind == CopyPlan::Kind::nothing) return;
  if (plan.kind == CopyPlan::Kind::block && is_faster_by_kernel(context, plan))
    plan.kind = CopyPlan::Kind::strided;
  std::byte *from = start(source, plan.source_offset), *to = start(target, plan.target_offset);
  if (plan.kind == CopyPlan::Kind::block) {
    const ContextGuard guard(context);  // kernel launches set the context themselves
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
  launch(kernel, plan, from, to, stream);
}

void fill(const Array& target, const Scalar& value, runtime::StreamState& on) {
  DeviceContext& context = DeviceContext::of(on.device().ordinal());
  CudaStream& stream = cuda_stream(context, on);
  const CopyPlan plan = plan_fill(target);
  if (plan.kind == CopyPlan::Kind::nothing) return;
  std::byte* to = start(target, plan.target_offset);
  const Scalar element = value.cast(target.dtype());
  const auto* bytes = static_cast<const std::byte*>(element.data());
  if (plan.kind == CopyPlan::Kind::block &&
      fill_run(context, to, bytes, plan.target_unit, plan.size(), stream.raw())) {
    return;
  }
  runtime::LoadedKernel& kernel =
      context.copy_kernels().get(fill_kernel_key(plan), [&] { return fill_kernel_text(plan); });
  alignas(16) std::byte unit[16];
  for (int i = 0; i < plan.elements; ++i)
    std::memcpy(unit + i * plan.target_unit, bytes, static_cast<std::size_t>(plan.target_unit));
  PackedAxes axes(plan);
  Integer size(plan.size(), plan.wide);
  std::array<void*, 4> arguments{&to, unit, size.bytes, axes.data()};
  kernel.launch({plan.blocks(copy_threads, 1)}, {copy_threads}, 0, stream, arguments.data());
}

constexpr runtime::ElementLoops cuda_loops{copy, fill};
[[maybe_unused]] const auto loops_before =
    runtime::register_element_loops(DeviceKind::cuda, &cuda_loops);

}  // namespace
}  // namespace spanwise::cuda
