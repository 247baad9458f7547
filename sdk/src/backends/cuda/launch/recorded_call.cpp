// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "backends/cuda/launch/recorded_call.hpp"

#include <algorithm>
#include <exception>
#include <vector>

#include "backends/cuda/cublas.hpp"
#include "backends/cuda/cuda_memory_pool.hpp"
#include "backends/cuda/cuda_stream.hpp"
#include "runtime/settings.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cuda {
namespace {

CUDA_MEMCPY3D parameters_of(const runtime::RecordedCall::Copy& copy) {
  CUDA_MEMCPY3D parameters{};
  parameters.srcMemoryType = parameters.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  parameters.srcDevice = reinterpret_cast<CUdeviceptr>(copy.source);
  parameters.dstDevice = reinterpret_cast<CUdeviceptr>(copy.target);
  parameters.srcPitch = parameters.dstPitch = parameters.WidthInBytes = copy.bytes;
  parameters.srcHeight = parameters.dstHeight = parameters.Height = parameters.Depth = 1;
  return parameters;
}

class CudaRecordedCall final : public runtime::RecordedCall {
 public:
  explicit CudaRecordedCall(DeviceContext& context) : context_(context), api_(context.api) {}
  // Queued launches still run.
  ~CudaRecordedCall() override {
    abort();
    const ContextGuard guard(context_, std::nothrow);
    if (!guard.ok()) return;
    const RelaxedCaptureMode relaxed(api_);
    if (exec_ != nullptr) api_.graph_exec_destroy(exec_);
    if (graph_ != nullptr) api_.graph_destroy(graph_);
  }

  bool begin(runtime::StreamState& stream) override {
    auto& recorded = cuda_stream(context_, stream);
    const CUstream queue = recorded.raw();
    if (!usable_after_fork() || stream_recording.stream != nullptr ||
        queue == CU_STREAM_PER_THREAD || runtime::launch_blocking())
      return false;
    const ContextGuard guard(context_);
    const RelaxedCaptureMode relaxed(api_);
    if (is_capturing(api_, queue)) return false;
    void* const workspace = recorded.recording_workspace(workspace_bytes(context_));
    if (workspace == nullptr) return false;
    check(api_, api_.stream_create(&captured_, CU_STREAM_NON_BLOCKING),
          "creating a stream for recording on ", context_.device);
    if (api_.stream_begin_capture(captured_, CU_STREAM_CAPTURE_MODE_RELAXED) != CUDA_SUCCESS) {
      api_.stream_destroy(std::exchange(captured_, nullptr));
      return false;
    }
    stream_ = Ref<CudaStream>(&recorded);
    recorded.begin_recording({&recorded, captured_, workspace});
    return true;
  }

  bool end(std::span<const Copy> before, std::span<const Copy> after) override {
    const ContextGuard guard(context_, std::nothrow);
    if (!guard.ok()) return false;
    const RelaxedCaptureMode relaxed(api_);
    const std::vector<CUgraphNode> last = last_captured_nodes();
    finish_capture();
    if (graph_ == nullptr || last.empty()) return false;
    const std::vector<CUgraphNode> first = root_nodes();
    if (first.empty()) return false;
    // One after the other: a graph without branches takes the host least to launch.
    if (!add_copies(before_, before, {}) || !add_copies(after_, after, last)) return false;
    if (!before_.empty()) {
      const std::vector<CUgraphNode> from(first.size(), before_.back().node);
      if (api_.graph_add_dependencies(graph_, from.data(), first.data(), first.size()) !=
          CUDA_SUCCESS)
        return false;
    }
    return api_.graph_instantiate(&exec_, graph_, 0) == CUDA_SUCCESS;
  }

  void abort() noexcept override {
    if (captured_ == nullptr) return;
    const ContextGuard guard(context_, std::nothrow);
    finish_capture();
  }

  bool launch(std::span<const Copy> before, std::span<const Copy> after) override {
    const ContextGuard guard(context_);
    const CUstream queue = stream_->raw();
    if (!set_copies(before_, before) || !set_copies(after_, after)) return false;
    check(api_, api_.graph_launch(exec_, queue), "launching a recorded call on ", context_.device);
    return true;
  }

 private:
  struct CopyNode {
    CUgraphNode node;
    Copy copy;
  };

  // The nodes that no captured node follows yet.
  std::vector<CUgraphNode> last_captured_nodes() const {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
    CUgraph graph = nullptr;
    const CUgraphNode* nodes = nullptr;
    std::size_t count = 0;
    if (api_.stream_get_capture_info(captured_, &status, &id, &graph, &nodes, &count) !=
            CUDA_SUCCESS ||
        status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
      return {};
    return {nodes, nodes + count};
  }

  std::vector<CUgraphNode> root_nodes() const {
    std::size_t count = 0;
    if (api_.graph_get_root_nodes(graph_, nullptr, &count) != CUDA_SUCCESS) return {};
    std::vector<CUgraphNode> nodes(count);
    if (api_.graph_get_root_nodes(graph_, nodes.data(), &count) != CUDA_SUCCESS) return {};
    return nodes;
  }

  void finish_capture() noexcept {
    stream_->end_recording();
    const RelaxedCaptureMode relaxed(api_);
    if (api_.stream_end_capture(captured_, &graph_) != CUDA_SUCCESS) graph_ = nullptr;
    api_.stream_destroy(std::exchange(captured_, nullptr));
  }

  // The first copy depends on `dependencies`, each other one on the copy before it.
  bool add_copies(std::vector<CopyNode>& nodes, std::span<const Copy> copies,
                  std::span<const CUgraphNode> dependencies) {
    for (const Copy& copy : copies) {
      const CUDA_MEMCPY3D parameters = parameters_of(copy);
      CUgraphNode node = nullptr;
      if (!nodes.empty()) dependencies = std::span(&nodes.back().node, 1);
      if (api_.graph_add_memcpy(&node, graph_, dependencies.data(), dependencies.size(),
                                &parameters, context_.handle) != CUDA_SUCCESS)
        return false;
      nodes.push_back({node, copy});
    }
    return true;
  }

  bool set_copies(std::vector<CopyNode>& nodes, std::span<const Copy> copies) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].copy == copies[i]) continue;
      const CUDA_MEMCPY3D parameters = parameters_of(copies[i]);
      if (api_.graph_exec_set_memcpy(exec_, nodes[i].node, &parameters, context_.handle) !=
          CUDA_SUCCESS)
        return false;
      nodes[i].copy = copies[i];
    }
    return true;
  }

  DeviceContext& context_;
  const DriverApi& api_;
  Ref<CudaStream> stream_;  // whose work is recorded, and which launch() uses
  CUstream captured_ = nullptr;
  CUgraph graph_ = nullptr;  // kept because the nodes of exec_ are identified by its nodes
  CUgraphExec exec_ = nullptr;
  std::vector<CopyNode> before_, after_;
};

}  // namespace

Ref<runtime::RecordedCall> make_recorded_call(DeviceContext& context) {
  return make_ref<CudaRecordedCall>(context);
}

}  // namespace spanwise::cuda
