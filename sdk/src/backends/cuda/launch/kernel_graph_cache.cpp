// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/launch/kernel_graph_cache.hpp"

#include <mutex>
#include <new>

namespace spanwise::cuda {
namespace {

// Direct launches of a kernel on a stream before a graph is created for it.
constexpr int launches_before_graph = 8;

}  // namespace

std::optional<CUresult> KernelGraphCache::launch(CudaKernel& kernel, const LaunchShape& shape,
                                                 CUstream stream, void* const* arguments) noexcept {
  // CU_STREAM_PER_THREAD is a different stream on each thread.
  if (stream == CU_STREAM_PER_THREAD) return std::nullopt;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || is_capturing(context_.api, stream)) return std::nullopt;
  try {
    Chain* entry = chains_.find(stream, [this] {
      return std::make_unique<LaunchChain>(context_, LaunchChain::Kernels::outlive,
                                           launches_before_graph);
    });
    if (entry == nullptr) return std::nullopt;
    LaunchChain& chain = **entry;
    chain.add(kernel, shape, arguments);
    const std::optional<CUresult> code = chain.launch(stream);
    chain.next_round();
    return code;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

}  // namespace spanwise::cuda
