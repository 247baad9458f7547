// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/graph_memory.hpp"

#include <algorithm>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/streams/ordering.hpp"
#include "spanwise/fork.hpp"

namespace spanwise::runtime {

constinit std::atomic<bool> may_release_graph_memory{false};

namespace {

// Whether a graph that uses memory may exist; releases read it without the lock.
constinit std::atomic<bool> has_graphs{false};

/// A captured graph that uses memory of the library.
struct Graph final : RefCounted {
  Graph(Device of, std::uint64_t capture) noexcept : device(of), id(capture) {}
  const Device device;
  const std::uint64_t id;  // StreamState::capture_id()
  std::atomic<bool> is_gone{false};
};

/// User object that the device holds as long as the graph exists. Its destructor calls nothing.
class GraphEnd final : public RefCounted {
 public:
  explicit GraphEnd(Ref<Graph> graph) noexcept : graph_(std::move(graph)) {}
  ~GraphEnd() override {
    graph_->is_gone.store(true, std::memory_order_release);
    may_release_graph_memory.store(true, std::memory_order_release);
  }

 private:
  Ref<Graph> graph_;
};

bool is_gone(const Ref<Graph>& graph) noexcept {
  return graph->is_gone.load(std::memory_order_acquire);
}

StreamState& state_of(StreamIdentity& stream) noexcept {
  return static_cast<StreamState&>(stream);  // every StreamIdentity is a StreamState
}

struct Kept {
  Kept(const UnheldMemory& unheld, std::vector<Ref<Graph>>&& used_by) noexcept
      : memory(unheld), graphs(std::move(used_by)) {}

  UnheldMemory memory;
  std::vector<Ref<Graph>> graphs;
  StreamUses uses;

  bool is_used() const noexcept { return !std::all_of(graphs.begin(), graphs.end(), is_gone); }
  bool is_recorded() const noexcept {
    if (uses.producer() != nullptr && state_of(*uses.producer()).is_captured()) return true;
    const auto streams = uses.all();
    return std::any_of(streams.begin(), streams.end(),
                       [](const auto& stream) { return state_of(*stream).is_captured(); });
  }
};

struct GraphMemoryTable {
  Mutex mutex;
  std::vector<Ref<Graph>> graphs;
  // address -> the graph it was allocated for
  std::unordered_map<const void*, Ref<Graph>> allocated;
  std::list<Kept> kept;

  Ref<Graph> graph_of(StreamState& stream) {
    const std::uint64_t id = stream.capture_id();
    if (id == 0) return {};
    for (const Ref<Graph>& known : graphs)
      if (known->id == id && known->device == stream.device()) return known;
    graphs.push_back(make_ref<Graph>(stream.device(), id));
    has_graphs.store(true, std::memory_order_relaxed);
    auto end = make_ref<GraphEnd>(graphs.back());
    // Where the device does not report the graph's destruction, its memory is never released: a
    // leak instead of a data race.
    if (!stream.attach_to_graph(*end)) end.detach();
    return graphs.back();
  }

  void forget_gone_graphs() noexcept {
    std::erase_if(allocated, [](const auto& entry) { return is_gone(entry.second); });
    std::erase_if(graphs, is_gone);
    has_graphs.store(!graphs.empty(), std::memory_order_relaxed);
  }
};

// Never destroyed: arrays may be released until the process exits.
GraphMemoryTable& table() {
  static auto& the_table = *new GraphMemoryTable;
  return the_table;
}

// Makes the producer stream wait for the others, then releases the memory. If the device fails, the
// memory is leaked instead of being reused while in use.
void give_back_now(const UnheldMemory& memory, StreamUses& uses) noexcept {
  if (uses.producer() != nullptr && !uses.only_producer_used()) {
    try {
      order_after_others(state_of(*uses.producer()), uses, /*writes=*/true);
    } catch (...) {
      return;
    }
  }
  memory.release(memory.context, memory.data, memory.bytes, uses);
}

// The streams that are being captured. Needs no heap allocation in the usual case of a single
// stream that is not.
std::vector<Ref<StreamIdentity>> recorded_streams(StreamUses& uses) {
  StreamIdentity& first = *uses.any();
  if (uses.is_only_user(first) && (uses.producer() == nullptr || uses.producer() == &first)) {
    if (!state_of(first).is_captured()) [[likely]]
      return {};
    return {Ref<StreamIdentity>(&first)};
  }
  std::vector<Ref<StreamIdentity>> streams = uses.all();
  if (uses.producer() != nullptr) streams.emplace_back(uses.producer());
  std::erase_if(streams, [](const auto& stream) { return !state_of(*stream).is_captured(); });
  return streams;
}

}  // namespace

void note_graph_memory(StreamState& stream, const void* data) {
  GraphMemoryTable& known = table();
  const std::lock_guard lock(known.mutex);
  if (Ref<Graph> graph = known.graph_of(stream)) known.allocated[data] = std::move(graph);
}

bool keep_for_graph(const UnheldMemory& memory, StreamUses& uses) noexcept {
  try {
    const std::vector<Ref<StreamIdentity>> recorded = recorded_streams(uses);
    if (recorded.empty() && !has_graphs.load(std::memory_order_relaxed)) [[likely]]
      return false;
    GraphMemoryTable& known = table();
    const std::lock_guard lock(known.mutex);
    std::vector<Ref<Graph>> graphs;
    if (const auto found = known.allocated.find(memory.data); found != known.allocated.end()) {
      if (!is_gone(found->second)) graphs.push_back(found->second);
      known.allocated.erase(found);
    }
    for (const Ref<StreamIdentity>& stream : recorded)
      if (Ref<Graph> graph = known.graph_of(state_of(*stream))) graphs.push_back(std::move(graph));
    if (recorded.empty() && graphs.empty()) return false;
    if (graphs.empty()) may_release_graph_memory.store(true, std::memory_order_relaxed);
    known.kept.emplace_back(memory, std::move(graphs)).uses.take(uses);
  } catch (...) {
    return true;  // out of host memory for the list: the memory is leaked
  }
  return true;
}

void release_graph_memory() noexcept {
  std::list<Kept> ready;
  {
    GraphMemoryTable& known = table();
    const std::lock_guard lock(known.mutex);
    may_release_graph_memory.store(false, std::memory_order_relaxed);
    for (auto next = known.kept.begin(); next != known.kept.end();) {
      const auto entry = next++;
      if (entry->is_used()) continue;
      if (entry->is_recorded())
        may_release_graph_memory.store(true, std::memory_order_relaxed);
      else
        ready.splice(ready.end(), known.kept, entry);
    }
    known.forget_gone_graphs();
  }
  // After unlocking, since release functions run foreign code.
  for (Kept& entry : ready) give_back_now(entry.memory, entry.uses);
}

void StreamState::release_memory(const UnheldMemory& memory, StreamUses& uses) noexcept {
  // Another thread may reuse the memory and queue work at once.
  flush();
  if (!keep_for_graph(memory, uses)) give_back_now(memory, uses);
}

}  // namespace spanwise::runtime
