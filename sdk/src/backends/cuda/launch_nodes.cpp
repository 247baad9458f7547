// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/launch_nodes.hpp"

#include <cstring>
#include <new>

namespace spanwise::cuda {
namespace {

// A graph costs 10 to 60 us to make; a kernel that is launched but a few times stays without.
constexpr int launches_before = 8;
constexpr std::size_t most_streams = 4;

CUDA_KERNEL_NODE_PARAMS parameters_of(CUfunction function, const LaunchShape& shape,
                                      void* const* arguments) {
  CUDA_KERNEL_NODE_PARAMS parameters{};
  parameters.func = function;
  parameters.gridDimX = shape.grid.x;
  parameters.gridDimY = shape.grid.y;
  parameters.gridDimZ = shape.grid.z;
  parameters.blockDimX = shape.block.x;
  parameters.blockDimY = shape.block.y;
  parameters.blockDimZ = shape.block.z;
  parameters.sharedMemBytes = shape.shared_bytes;
  parameters.kernelParams = const_cast<void**>(arguments);
  return parameters;
}

}  // namespace

class LaunchNodes::Node {
 public:
  Node(const DriverApi& api, CUstream stream, std::span<const Slot> slots)
      : api_(api), stream_(stream) {
    if (!slots.empty())
      values_.resize(static_cast<std::size_t>(slots.back().offset + slots.back().size));
  }
  ~Node() {
    if (exec_ != nullptr) api_.graph_exec_destroy(exec_);
    if (graph_ != nullptr) api_.graph_destroy(graph_);
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  CUstream stream() const noexcept { return stream_; }
  bool is_usable() const noexcept { return exec_ != nullptr; }

  // Leaves is_usable() false where the driver refuses the kernel as a node.
  void make(CUfunction function, std::span<const Slot> slots, const LaunchShape& shape,
            void* const* arguments) {
    const RelaxedCaptureMode relaxed(api_);  // other threads' captures are not concerned
    const CUDA_KERNEL_NODE_PARAMS parameters = parameters_of(function, shape, arguments);
    CUgraphExec exec = nullptr;
    if (api_.graph_create(&graph_, 0) != CUDA_SUCCESS) return;
    if (api_.graph_add_kernel(&node_, graph_, nullptr, 0, &parameters) != CUDA_SUCCESS) return;
    if (api_.graph_instantiate(&exec, graph_, 0) != CUDA_SUCCESS) return;
    exec_ = exec;
    keep(slots, shape, arguments);
  }

  // False where the driver does not take them; the node then has those it had before.
  bool set(CUfunction function, std::span<const Slot> slots, const LaunchShape& shape,
           void* const* arguments) {
    if (!differs(slots, shape, arguments)) return true;
    const CUDA_KERNEL_NODE_PARAMS parameters = parameters_of(function, shape, arguments);
    if (api_.graph_exec_set_kernel(exec_, node_, &parameters) != CUDA_SUCCESS) return false;
    keep(slots, shape, arguments);
    return true;
  }

  CUresult launch() { return api_.graph_launch(exec_, stream_); }

 private:
  // To look costs a tenth of setting them again.
  bool differs(std::span<const Slot> slots, const LaunchShape& shape,
               void* const* arguments) const noexcept {
    if (shape != shape_) return true;
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (std::memcmp(values_.data() + slots[i].offset, arguments[i],
                      static_cast<std::size_t>(slots[i].size)) != 0)
        return true;
    return false;
  }
  void keep(std::span<const Slot> slots, const LaunchShape& shape,
            void* const* arguments) noexcept {
    shape_ = shape;
    for (std::size_t i = 0; i < slots.size(); ++i)
      std::memcpy(values_.data() + slots[i].offset, arguments[i],
                  static_cast<std::size_t>(slots[i].size));
  }

  const DriverApi& api_;
  CUstream stream_;
  CUgraph graph_ = nullptr;  // the node is known by its place there
  CUgraphNode node_ = nullptr;
  CUgraphExec exec_ = nullptr;
  LaunchShape shape_;
  std::vector<std::byte> values_;
};

LaunchNodes::LaunchNodes(const DeviceContext& context, CUfunction function,
                         std::span<const Slot> slots)
    : context_(context), function_(function), slots_(slots) {}

LaunchNodes::~LaunchNodes() {
  const ContextGuard guard(context_, std::nothrow);
  if (!guard.ok())  // the driver has gone, and its graphs with it
    for (std::unique_ptr<Node>& node : nodes_) static_cast<void>(node.release());
}

// A node whose stream has gone serves the next stream of that handle: it is bound to none.
LaunchNodes::Node* LaunchNodes::node_for(CUstream stream, const LaunchShape& shape,
                                         void* const* arguments) {
  for (const std::unique_ptr<Node>& node : nodes_)
    if (node->stream() == stream) return node->is_usable() ? node.get() : nullptr;
  if (launches_ < launches_before) {
    ++launches_;
    return nullptr;
  }
  if (nodes_.size() == most_streams) return nullptr;
  Node& node = *nodes_.emplace_back(std::make_unique<Node>(context_.api, stream, slots_));
  node.make(function_, slots_, shape, arguments);
  return node.is_usable() ? &node : nullptr;
}

std::optional<CUresult> LaunchNodes::launch(const LaunchShape& shape, CUstream stream,
                                            void* const* arguments) noexcept {
  // This name is another stream on each thread.
  if (stream == CU_STREAM_PER_THREAD) return std::nullopt;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || is_capturing(context_.api, stream)) return std::nullopt;
  try {
    Node* node = node_for(stream, shape, arguments);
    if (node == nullptr || !node->set(function_, slots_, shape, arguments)) return std::nullopt;
    return node->launch();
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

}  // namespace spanwise::cuda
