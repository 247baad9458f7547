// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/launch/launch_chain.hpp"

#include <cstring>
#include <new>

#include "backends/cuda/module.hpp"

namespace spanwise::cuda {
namespace {

// Graphs that a chain creates at most: creating one takes 10 us and more, and a chain that needs
// many has kernels that do not repeat.
constexpr int most_graphs = 8;

}  // namespace

struct LaunchChain::Link {
  Link(CudaKernel& its_kernel, Kernels kernels) : kernel(its_kernel) {
    if (kernels == Kernels::held) holder = Ref<CudaKernel>(&its_kernel);
    const std::span<const runtime::LoadedKernel::Slot> slots = kernel.slot_list();
    if (!slots.empty())
      values.resize(static_cast<std::size_t>(slots.back().offset + slots.back().size));
    for (const auto& slot : slots) arguments.push_back(values.data() + slot.offset);
  }

  // Comparing the arguments takes a tenth of the time of updating the node in the driver.
  void take(const LaunchShape& its_shape, void* const* given) noexcept {
    if (shape != its_shape) {
      shape = its_shape;
      is_current = false;
    }
    const auto slots = kernel.slot_list();
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const auto bytes = static_cast<std::size_t>(slots[i].size);
      if (std::memcmp(arguments[i], given[i], bytes) == 0) continue;
      std::memcpy(arguments[i], given[i], bytes);
      is_current = false;
    }
  }

  CUDA_KERNEL_NODE_PARAMS parameters() noexcept {
    CUDA_KERNEL_NODE_PARAMS parameters{};
    parameters.func = kernel.function();
    shape.put_into(parameters);
    parameters.kernelParams = arguments.data();
    return parameters;
  }

  CudaKernel& kernel;
  Ref<CudaKernel> holder;  // may be null
  LaunchShape shape;
  std::vector<std::byte> values;
  std::vector<void*> arguments;  // pointers into values, one per parameter
  CUgraphNode node = nullptr;
  bool is_current = false;  // the graph's node has these values
};

LaunchChain::LaunchChain(const DeviceContext& context, Kernels kernels, int rounds_before)
    : context_(context),
      api_(context.api),
      kernels_(kernels),
      rounds_before_(rounds_before),
      graphs_left_(most_graphs) {}

LaunchChain::~LaunchChain() {
  const ContextGuard guard(context_, std::nothrow);
  if (guard.ok()) drop_graph();  // otherwise the driver has shut down and freed its graphs
}

void LaunchChain::drop_graph() noexcept {
  if (exec_ != nullptr) api_.graph_exec_destroy(exec_);
  if (graph_ != nullptr) api_.graph_destroy(graph_);
  exec_ = nullptr;
  graph_ = nullptr;
  rounds_ = 0;
}

void LaunchChain::add(CudaKernel& kernel, const LaunchShape& shape, void* const* arguments) {
  if (count_ == links_.size() || &links_[count_]->kernel != &kernel) {
    drop_graph();
    links_.resize(count_);
    links_.push_back(std::make_unique<Link>(kernel, kernels_));
  }
  links_[count_++]->take(shape, arguments);
}

LaunchChain::Launch LaunchChain::at(std::size_t i) const noexcept {
  const Link& link = *links_[i];
  return {link.kernel, link.shape, link.arguments.data()};
}

std::optional<CUresult> LaunchChain::launch(CUstream stream) noexcept {
  if (count_ < links_.size()) {  // fewer kernels than in the last round
    drop_graph();
    links_.resize(count_);
  }
  if (exec_ == nullptr && (rounds_++ < rounds_before_ || !make())) return std::nullopt;
  if (!update_nodes()) return std::nullopt;
  return api_.graph_launch(exec_, stream);
}

void LaunchChain::next_round() noexcept { count_ = 0; }

bool LaunchChain::make() noexcept {
  if (graphs_left_ == 0) return false;
  --graphs_left_;
  const RelaxedCaptureMode relaxed(api_);  // does not affect captures of other threads
  bool is_taken = api_.graph_create(&graph_, 0) == CUDA_SUCCESS;
  const CUgraphNode* last = nullptr;
  for (const std::unique_ptr<Link>& link : links_) {
    const CUDA_KERNEL_NODE_PARAMS parameters = link->parameters();
    is_taken = is_taken && api_.graph_add_kernel(&link->node, graph_, last, last != nullptr ? 1 : 0,
                                                 &parameters) == CUDA_SUCCESS;
    link->is_current = is_taken;
    last = &link->node;
  }
  is_taken = is_taken && api_.graph_instantiate(&exec_, graph_, 0) == CUDA_SUCCESS;
  if (!is_taken) {
    exec_ = nullptr;
    drop_graph();
  }
  return is_taken;
}

bool LaunchChain::update_nodes() noexcept {
  for (const std::unique_ptr<Link>& link : links_) {
    if (link->is_current) continue;
    const CUDA_KERNEL_NODE_PARAMS parameters = link->parameters();
    if (api_.graph_exec_set_kernel(exec_, link->node, &parameters) != CUDA_SUCCESS) return false;
    link->is_current = true;
  }
  return true;
}

}  // namespace spanwise::cuda
