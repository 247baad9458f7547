// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "backends/cuda/context.hpp"
#include "backends/cuda/launch/launch_chain.hpp"
#include "backends/cuda/per_stream.hpp"
#include "backends/cuda/spin_lock.hpp"

namespace spanwise::cuda {

/// CUDA graphs of one kernel, each with a single node: one LaunchChain for each stream that
/// launches it.
class KernelGraphCache {
 public:
  explicit KernelGraphCache(const DeviceContext& context) : context_(context) {}

  /// Launches the kernel as a graph and returns the driver's result, or nothing if the caller has
  /// to launch it directly: for the first launches of a kernel, on streams beyond PerStream's
  /// limit, on the per-thread default stream and captured streams, while another thread launches
  /// the kernel, and for a kernel that the driver rejects as a graph. `arguments` as for
  /// LoadedKernel::launch. The context must be current.
  std::optional<CUresult> launch(CudaKernel& kernel, const LaunchShape& shape, CUstream stream,
                                 void* const* arguments) noexcept;

 private:
  using Chain = std::unique_ptr<LaunchChain>;

  const DeviceContext& context_;
  SpinLock mutex_;
  PerStream<Chain> chains_;
};

}  // namespace spanwise::cuda
