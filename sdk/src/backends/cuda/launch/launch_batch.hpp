// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/context.hpp"
#include "backends/cuda/launch/launch_chain.hpp"
#include "backends/cuda/per_stream.hpp"
#include "backends/cuda/stream.hpp"
#include "runtime/backend.hpp"

namespace spanwise::cuda {

/// A row of launches that repeats: each stretch of it, up to where the thread does something else
/// on the device, becomes a CUDA graph (LaunchChain), so that ten kernels cost the host little more
/// than one.
class CudaLaunchRow final : public runtime::LaunchBatch {
 public:
  explicit CudaLaunchRow(const DeviceContext& context) : context_(context) {}

  /// False while another row of the thread is open, in a forked child, with config
  /// "launch_blocking", where config "kernel_launch" does not let kernels be joined, and on streams
  /// beyond the first few.
  bool open(runtime::StreamState& stream) override;
  void close() override;

  /// The calling thread's open row where it is one on `stream`, else null.
  static CudaLaunchRow* open_on(const CudaStream& stream) noexcept;
  /// Keeps the launch back; its extents are within the kernel's limits.
  void add(CudaKernel& kernel, const LaunchShape& shape, void* const* arguments);
  /// Queues what is kept back. An error waits for close().
  void hand_over() noexcept;

 private:
  // One for each stretch, in their order.
  using Chains = std::vector<std::unique_ptr<LaunchChain>>;
  LaunchChain& stretch();
  void note(CUresult code, const LaunchChain& chain, std::size_t first, std::size_t last) noexcept;

  const DeviceContext& context_;
  PerStream<Chains> chains_of_;
  // While it is open:
  Ref<CudaStream> stream_;
  Chains* chains_ = nullptr;
  std::size_t stretch_ = 0;
  CUresult error_ = CUDA_SUCCESS;
  std::string failed_;
};

}  // namespace spanwise::cuda
