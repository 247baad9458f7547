// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "backends/cuda/cuda_module.hpp"
#include "backends/cuda/launch/launch_chain.hpp"
#include "backends/cuda/launch/launch_tuner.hpp"
#include "runtime/settings.hpp"

namespace spanwise::cuda {
namespace {

// Graphs that a chain creates at most: creating one takes 10 us or more, and a chain that needs
// many has kernels that do not repeat.
constexpr int max_graphs = 8;
// Executable graphs of a chain that holds its kernels.
constexpr std::size_t max_executables = 4;
// Rounds in a row with arguments of earlier rounds after which one more executable is created.
constexpr int enough_recurrences = 3;

}  // namespace

struct LaunchChain::Link {
  Link(CudaKernel& of_kernel, Kernels kernels) : kernel(of_kernel) {
    if (kernels == Kernels::held) holder = Ref<CudaKernel>(&of_kernel);
    const std::span<const runtime::LoadedKernel::ParameterInfo> parameter_info =
        kernel.parameter_list();
    if (!parameter_info.empty())
      values.resize(
          static_cast<std::size_t>(parameter_info.back().offset + parameter_info.back().size));
    for (const auto& info : parameter_info) arguments.push_back(values.data() + info.offset);
  }

  void set(const LaunchShape& new_shape, void* const* new_arguments) noexcept {
    shape = new_shape;
    const auto parameter_info = kernel.parameter_list();
    for (std::size_t i = 0; i < parameter_info.size(); ++i)
      std::memcpy(arguments[i], new_arguments[i], static_cast<std::size_t>(parameter_info[i].size));
  }

  CUDA_KERNEL_NODE_PARAMS parameters() noexcept {
    CUDA_KERNEL_NODE_PARAMS parameters{};
    parameters.func = kernel.function();
    shape.put_into(parameters);
    parameters.kernelParams = arguments.data();
    return parameters;
  }

  CudaKernel& kernel;
  Ref<CudaKernel> holder;  // null if the kernel outlives the chain
  LaunchShape shape;
  std::vector<std::byte> values;
  std::vector<void*> arguments;  // pointers into values, one per parameter
  CUgraphNode node = nullptr;
};

/// An executable graph, and the shapes and arguments that its nodes have.
struct LaunchChain::Executable {
  struct NodeState {
    LaunchShape shape;
    std::vector<std::byte> values;
  };
  // Comparing the arguments takes a tenth of the time of updating the node in the driver.
  bool has(std::size_t i, const Link& link) const noexcept {
    const std::vector<std::byte>& values = nodes[i].values;
    return nodes[i].shape == link.shape &&
           (values.empty() || std::memcmp(values.data(), link.values.data(), values.size()) == 0);
  }

  CUgraphExec exec = nullptr;
  std::vector<NodeState> nodes;
};

LaunchChain::LaunchChain(const DeviceContext& context, Kernels kernels, int rounds_before_graph)
    : context_(context),
      api_(context.api),
      kernels_(kernels),
      rounds_before_graph_(rounds_before_graph),
      graphs_left_(max_graphs) {}

LaunchChain::~LaunchChain() {
  const ContextGuard guard(context_, std::nothrow);
  if (guard.ok()) drop_graph();  // otherwise the driver has shut down and freed its graphs
}

void LaunchChain::drop_graph() noexcept {
  for (const auto& executable : executables_) api_.graph_exec_destroy(executable->exec);
  if (graph_ != nullptr) api_.graph_destroy(graph_);
  executables_.clear();
  graph_ = nullptr;
  rounds_ = 0;
}

void LaunchChain::add(CudaKernel& kernel, const LaunchShape& shape, void* const* arguments) {
  if (count_ == links_.size() || &links_[count_]->kernel != &kernel) {
    drop_graph();
    links_.resize(count_);
    links_.push_back(std::make_unique<Link>(kernel, kernels_));
  }
  links_[count_++]->set(shape, arguments);
}

LaunchChain::DirectLaunch LaunchChain::at(std::size_t i) const noexcept {
  const Link& link = *links_[i];
  return {link.kernel, link.shape, link.arguments.data()};
}

std::optional<CUresult> LaunchChain::launch(CUstream stream) noexcept {
  if (count_ < links_.size()) {  // fewer kernels than in the last round
    drop_graph();
    links_.resize(count_);
  }
  if (executables_.empty() && (rounds_++ < rounds_before_graph_ || !try_create_graph()))
    return std::nullopt;
  if (!has_arguments(*executables_.back()) && !try_select_executable()) return std::nullopt;
  return api_.graph_launch(executables_.back()->exec, stream);
}

bool LaunchChain::has_arguments(const Executable& executable) const noexcept {
  for (std::size_t i = 0; i < links_.size(); ++i)
    if (!executable.has(i, *links_[i])) return false;
  return true;
}

// Moves an executable that has this round's arguments to the end: one that has them already, else a
// new or the least recently used one, which then gets them. Returns false if the driver rejects the
// arguments.
bool LaunchChain::try_select_executable() noexcept {
  const auto match = std::ranges::find_if(
      executables_, [this](const auto& executable) { return has_arguments(*executable); });
  if (match != executables_.end()) {
    std::rotate(match, match + 1, executables_.end());
    return true;
  }
  if (kernels_ != Kernels::held || executables_.size() == max_executables || !is_recurring() ||
      !try_instantiate())
    std::rotate(executables_.begin(), executables_.begin() + 1, executables_.end());
  return try_update_nodes(*executables_.back());
}

// Whether this round and the ones before it, of those for which no executable had the arguments,
// repeated arguments of earlier such rounds.
bool LaunchChain::is_recurring() noexcept {
  std::size_t hash = 0;
  for (const std::unique_ptr<Link>& link : links_) {
    const std::string_view bytes(reinterpret_cast<const char*>(link->values.data()),
                                 link->values.size());
    hash = hash * 31 + std::hash<std::string_view>()(bytes);
  }
  const bool is_known = std::ranges::find(recent_hashes_, hash) != recent_hashes_.end();
  recurrences_ = is_known ? recurrences_ + 1 : 0;
  recent_hashes_[next_hash_++ % recent_hashes_.size()] = hash;
  if (recurrences_ < enough_recurrences) return false;
  recurrences_ = 0;
  return true;
}

void LaunchChain::next_round() noexcept { count_ = 0; }

bool LaunchChain::try_create_graph() noexcept {
  if (graphs_left_ == 0) return false;
  --graphs_left_;
  const RelaxedCaptureMode relaxed(api_);  // does not affect captures of other threads
  bool is_complete = api_.graph_create(&graph_, 0) == CUDA_SUCCESS;
  const CUgraphNode* last = nullptr;
  for (const std::unique_ptr<Link>& link : links_) {
    const CUDA_KERNEL_NODE_PARAMS parameters = link->parameters();
    is_complete =
        is_complete && api_.graph_add_kernel(&link->node, graph_, last, last != nullptr ? 1 : 0,
                                             &parameters) == CUDA_SUCCESS;
    last = &link->node;
  }
  is_complete = is_complete && try_instantiate();
  if (!is_complete) drop_graph();
  return is_complete;
}

// The nodes have the arguments of the round in which the graph was made; try_update_nodes() gives
// them those of this round.
bool LaunchChain::try_instantiate() noexcept {
  const RelaxedCaptureMode relaxed(api_);
  CUgraphExec exec = nullptr;
  if (api_.graph_instantiate(&exec, graph_, 0) != CUDA_SUCCESS) return false;
  try {
    auto executable = std::make_unique<Executable>();
    for (const std::unique_ptr<Link>& link : links_)
      executable->nodes.push_back({LaunchShape(), link->values});
    executables_.push_back(std::move(executable));
  } catch (const std::bad_alloc&) {
    api_.graph_exec_destroy(exec);
    return false;
  }
  executables_.back()->exec = exec;
  return true;
}

bool LaunchChain::try_update_nodes(Executable& executable) noexcept {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = *links_[i];
    if (executable.has(i, link)) continue;
    const CUDA_KERNEL_NODE_PARAMS parameters = link.parameters();
    if (api_.graph_exec_set_kernel(executable.exec, link.node, &parameters) != CUDA_SUCCESS)
      return false;
    executable.nodes[i].shape = link.shape;
    std::ranges::copy(link.values, executable.nodes[i].values.begin());
  }
  return true;
}

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
      stream_recording.stream != nullptr || queue.peek() == CU_STREAM_PER_THREAD ||
      runtime::launch_blocking() || !LaunchTuner::joins_kernels())
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
      record_error(
          guard.ok() ? launch.kernel.start(launch.shape, queue, launch.arguments) : guard.code(),
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
