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

/// A sequence of launches that is repeated. Launches are held until the thread queues other work on
/// the device; the launches of each such segment become a CUDA graph (LaunchChain), so that ten
/// kernels cost the host little more than one.
class CudaLaunchBatch final : public runtime::LaunchBatch {
 public:
  explicit CudaLaunchBatch(const DeviceContext& context) : context_(context) {}

  /// Returns false while another batch of the thread is open, in a forked child, with config
  /// "launch_blocking", if LaunchTuner::joins_kernels() is false, on the per-thread default stream,
  /// on streams beyond PerStream's limit, and after a few batches without successive launches.
  bool open(runtime::StreamState& stream) override;
  void close() override;

  /// The calling thread's open batch if it is on `stream`, else null.
  static CudaLaunchBatch* open_on(const CudaStream& stream) noexcept;
  /// Holds the launch. Its extents must be within the kernel's limits.
  void add(CudaKernel& kernel, const LaunchShape& shape, void* const* arguments);
  /// Queues the launches that are held. close() throws the error, if any.
  void flush() noexcept;

 private:
  // One chain for each segment, in order.
  using Chains = std::vector<std::unique_ptr<LaunchChain>>;
  LaunchChain& segment();
  void record_error(CUresult code, const LaunchChain& chain, std::size_t first,
                    std::size_t last) noexcept;

  const DeviceContext& context_;
  PerStream<Chains> chains_by_stream_;
  int small_batches_ = 0;  // in a row, each without a segment of several launches
  // Valid while the batch is open:
  Ref<CudaStream> stream_;
  Chains* chains_ = nullptr;
  std::size_t segment_ = 0;
  bool has_graph_segment_ = false;  // a segment had more than one launch
  CUresult error_ = CUDA_SUCCESS;
  std::string failed_kernels_;
};

}  // namespace spanwise::cuda
