// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/launch/launch_batch.hpp"

#include <new>
#include <optional>
#include <utility>

#include "backends/cuda/launch/launch_tuner.hpp"
#include "backends/cuda/module.hpp"
#include "runtime/settings.hpp"

namespace spanwise::cuda {
namespace {

constexpr int rounds_before_graph = 2;
// The device starts only when a segment is queued, so segments are short.
constexpr std::size_t max_segment_launches = 24;
// After so many batches in a row without a segment of several launches, which gain nothing, no more
// are opened.
constexpr int max_small_batches = 64;

constinit thread_local CudaLaunchBatch* open_batch = nullptr;

}  // namespace

constinit thread_local bool launches_are_held = false;

void flush_held_launches() noexcept { open_batch->flush(); }

bool CudaLaunchBatch::open(runtime::StreamState& stream) {
  auto& queue = cuda_stream(context_, stream);
  if (small_batches_ == max_small_batches || open_batch != nullptr || !usable_after_fork() ||
      queue.peek() == CU_STREAM_PER_THREAD || runtime::launch_blocking() ||
      !LaunchTuner::joins_kernels())
    return false;
  chains_ = chains_by_stream_.find(queue.peek(), [] { return Chains(); });
  if (chains_ == nullptr) return false;
  stream_ = Ref<CudaStream>(&queue);
  segment_ = 0;
  has_graph_segment_ = false;
  open_batch = this;
  return true;
}

void CudaLaunchBatch::close() {
  flush();
  small_batches_ = has_graph_segment_ ? 0 : small_batches_ + 1;
  open_batch = nullptr;
  stream_ = {};
  const CUresult code = std::exchange(error_, CUDA_SUCCESS);
  check(context_.api, code, "launching ", failed_kernels_, " on ", context_.device);
}

CudaLaunchBatch* CudaLaunchBatch::open_on(const CudaStream& stream) noexcept {
  return open_batch != nullptr && open_batch->stream_.get() == &stream ? open_batch : nullptr;
}

LaunchChain& CudaLaunchBatch::segment() {
  if (segment_ == chains_->size())
    chains_->push_back(
        std::make_unique<LaunchChain>(context_, LaunchChain::Kernels::held, rounds_before_graph));
  return *(*chains_)[segment_];
}

void CudaLaunchBatch::add(CudaKernel& kernel, const LaunchShape& shape, void* const* arguments) {
  LaunchChain& chain = segment();
  chain.add(kernel, shape, arguments);
  launches_are_held = true;
  if (chain.size() == max_segment_launches) flush();
}

void CudaLaunchBatch::flush() noexcept {
  if (!std::exchange(launches_are_held, false)) return;
  LaunchChain& chain = *(*chains_)[segment_++];
  has_graph_segment_ = has_graph_segment_ || chain.size() > 1;
  const ContextGuard guard(context_, std::nothrow);
  const CUstream queue = stream_->peek();
  std::optional<CUresult> code;
  if (chain.size() > 1 && guard.ok() && !is_capturing(context_.api, queue))
    code = chain.launch(queue);
  if (code) {
    record_error(*code, chain, 0, chain.size() - 1);
  } else {
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const LaunchChain::DirectLaunch launch = chain.at(i);
      record_error(guard.ok() ? launch.kernel.start(launch.shape, queue, launch.arguments)
                              : CUDA_ERROR_NOT_INITIALIZED,
                   chain, i, i);
    }
  }
  chain.next_round();
}

// Keeps only the first error: in a failed context, all later launches return the same one.
void CudaLaunchBatch::record_error(CUresult code, const LaunchChain& chain, std::size_t first,
                                   std::size_t last) noexcept {
  if (code == CUDA_SUCCESS || error_ != CUDA_SUCCESS) return;
  error_ = code;
  try {
    failed_kernels_ = text(first == last ? "kernel " : "kernels ", chain.at(first).kernel.name());
    if (first != last) failed_kernels_ += text(" to ", chain.at(last).kernel.name());
  } catch (const std::bad_alloc&) {
    failed_kernels_ = "kernel";
  }
}

}  // namespace spanwise::cuda
