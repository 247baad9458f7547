// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "backends/cuda/context.hpp"
#include "backends/cuda/launch_shape.hpp"
#include "runtime/backend.hpp"

namespace spanwise::cuda {

/// One kernel as CUDA graphs of one node, a graph for each stream that launches it often.
///
/// To launch such a graph again, with new arguments put into its node, takes the host about half of
/// cuLaunchKernel's time where the processor is a virtual one: 1.4 us and 3.0 us on the host of an
/// H200. Each stream has its own because the driver runs the launches of one graph one after the
/// other, on whichever streams they are. (CUDA driver API, "Graph Management".)
class LaunchNodes {
 public:
  using Slot = runtime::LoadedKernel::Slot;
  /// Both are the kernel's, and stay; makes nothing yet.
  LaunchNodes(const DeviceContext& context, CUfunction function, std::span<const Slot> slots);
  /// What is queued still runs.
  ~LaunchNodes();
  LaunchNodes(const LaunchNodes&) = delete;
  LaunchNodes& operator=(const LaunchNodes&) = delete;

  /// The driver's answer, or nothing where the launch was not made and has to be made directly: the
  /// first launches of a kernel, streams beyond the first few and those that are captured, a kernel
  /// that is being launched by another thread, or one that a graph does not take.
  /// `arguments` as for LoadedKernel::launch; they are copied. The context is current.
  std::optional<CUresult> launch(const LaunchShape& shape, CUstream stream,
                                 void* const* arguments) noexcept;

 private:
  class Node;
  Node* node_for(CUstream stream, const LaunchShape& shape, void* const* arguments);

  const DeviceContext& context_;
  CUfunction function_;
  std::span<const Slot> slots_;
  std::mutex mutex_;
  int launches_ = 0;
  std::vector<std::unique_ptr<Node>> nodes_;
};

}  // namespace spanwise::cuda
