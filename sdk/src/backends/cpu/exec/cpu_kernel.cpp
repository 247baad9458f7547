// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "backends/cpu/exec/launch_plan.hpp"
#include "backends/cpu/exec/worker.hpp"
#include "backends/cpu/jit/cpu_module.hpp"
#include "backends/cpu/processor.hpp"
#include "backends/cpu/thread_pool.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cpu_backend {
namespace {

void run_in_parallel(const LaunchedKernel& launched, const sw_range& launch, std::uint64_t blocks) {
  ThreadPool& pool = ThreadPool::instance();
  // Enough chunks to balance the load, few enough that their overhead is negligible.
  const std::uint64_t chunks = std::min(blocks, static_cast<std::uint64_t>(pool.workers()) * 16);
  const auto first_block = [&](std::uint64_t chunk) {
    return blocks / chunks * chunk + std::min(chunk, blocks % chunks);
  };
  pool.run(chunks, Helpers::when_worth_it, [&](std::uint64_t chunk) {
    if (launched.reverse) chunk = chunks - 1 - chunk;
    sw_range range = launch;
    range.first = first_block(chunk);
    range.last = first_block(chunk + 1);
    Worker::current().run(launched, range);
  });
}

}  // namespace

CpuKernel::CpuKernel(Ref<CpuModule> module, const sw_module& unit, const sw_kernel* kernel)
    : module_(std::move(module)), unit_(unit), kernel_(kernel) {}

std::vector<runtime::LoadedKernel::ParameterInfo> CpuKernel::parameter_info() const {
  std::vector<ParameterInfo> parameter_info;
  for (int i = 0; i < kernel_->parameter_count; ++i)
    parameter_info.push_back({kernel_->parameters[i].offset, kernel_->parameters[i].size});
  return parameter_info;
}

std::string CpuKernel::parameter_types() const {
  // "... [with T = {float*, int}]" (GCC) or "... [T = <float *, int>]" (Clang).
  const std::string_view text = kernel_->types();
  const std::size_t open = text.rfind("T = ");
  const std::size_t close = text.find_last_of("}>");
  if (open == text.npos || close == text.npos || close < open + 5) return {};
  return std::string(text.substr(open + 5, close - open - 5));
}

KernelAttributes CpuKernel::attributes() const {
  KernelAttributes attributes;
  attributes.static_shared_bytes = module_->static_shared_bytes();
  attributes.local_bytes = static_cast<std::int64_t>(unit_.stack_bytes);
  attributes.architecture = processor_architecture();
  return attributes;
}

void CpuKernel::launch(const Dim3& grid, const Dim3& block, std::int64_t shared_bytes,
                       runtime::StreamState&, void* const* arguments) {
  check_limits(kernel_->name, grid, block, shared_bytes);
  FaultTrap::install();
  const LaunchedKernel launched{kernel_,
                                unit_.file,
                                stack_need(unit_),
                                static_cast<std::size_t>(shared_bytes),
                                runs_in_reverse(),
                                module_->code(),
                                &FaultTrap::current()};
  run_in_parallel(launched, launch_range(grid, block, arguments), block_count(grid));
  // Kernels share stdout's buffer with the program; flush it here, because a GPU's output appears
  // at the next synchronization, and a launch on the CPU is synchronous.
  if (unit_.prints != 0) std::fflush(stdout);
}

void CpuKernel::launch_with(const runtime::LaunchAttributes& attributes, const Dim3& grid,
                            const Dim3& block, std::int64_t shared_bytes,
                            runtime::StreamState& stream, void* const* arguments) {
  const Dim3& cluster = attributes.cluster;
  if (cluster.x * cluster.y * cluster.z != 1)
    fail<KernelArgumentError>(
        "kernel '", kernel_->name, "': cluster ", runtime::extents_text(cluster),
        " is for GPUs of compute capability 9.0 and newer. Remedy: on the CPU leave cluster= out");
  if (attributes.check == nullptr || !checks())
    return launch(grid, block, shared_bytes, stream, arguments);
  launch_checked(*attributes.check, grid, block, shared_bytes, arguments);
}

int CpuKernel::max_active_blocks(int threads, std::int64_t shared_bytes) {
  check_limits(kernel_->name, {}, {threads, 1, 1}, shared_bytes);
  return 1;  // a worker runs one block at a time
}

}  // namespace spanwise::cpu_backend
