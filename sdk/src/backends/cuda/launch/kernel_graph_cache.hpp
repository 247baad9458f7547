// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "backends/cuda/context.hpp"
#include "backends/cuda/launch/launch_chain.hpp"
#include "backends/cuda/per_stream.hpp"
#include "spanwise/fork.hpp"

namespace spanwise::cuda {

/// The chains of one kernel through which it is launched by itself, one for each of the streams
/// that launch it.
class KernelGraphCache {
 public:
  explicit KernelGraphCache(const DeviceContext& context) : context_(context) {}

  /// The driver's answer, or nothing where the launch was not made and has to be made directly: the
  /// first launches of a kernel, streams beyond the first few and those that are captured, a kernel
  /// that is being launched by another thread, or one that a graph does not take. `arguments` as
  /// for LoadedKernel::launch. The context is current.
  std::optional<CUresult> launch(CudaKernel& kernel, const LaunchShape& shape, CUstream stream,
                                 void* const* arguments) noexcept;

 private:
  using Chain = std::unique_ptr<LaunchChain>;

  const DeviceContext& context_;
  Mutex mutex_;
  PerStream<Chain> chains_;
};

}  // namespace spanwise::cuda
