// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph_memory.hpp"

#include <algorithm>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/stream_order.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::runtime {

constinit std::atomic<bool> may_release_graph_memory{false};

namespace {

// Whether a captured graph may exist; read without the lock at each release of memory.
constinit std::atomic<bool> has_graphs{false};

/// A captured graph that uses memory of the library.
struct CapturedGraph final : RefCounted {
  CapturedGraph(Device capture_device, std::uint64_t capture_id) noexcept
      : device(capture_device), id(capture_id) {}
  const Device device;
  const std::uint64_t id;  // StreamState::capture_id()
  std::atomic<bool> is_destroyed{false};
};

/// User object that the device holds as long as the graph exists. Its destructor marks the graph as
/// destroyed and calls nothing else, since it may run where the driver must not be called.
class DestructionMarker final : public RefCounted {
 public:
  explicit DestructionMarker(Ref<CapturedGraph> graph) noexcept : graph_(std::move(graph)) {}
  ~DestructionMarker() override {
    graph_->is_destroyed.store(true, std::memory_order_release);
    may_release_graph_memory.store(true, std::memory_order_release);
  }

 private:
  Ref<CapturedGraph> graph_;
};

bool is_destroyed(const Ref<CapturedGraph>& graph) noexcept {
  return graph->is_destroyed.load(std::memory_order_acquire);
}

StreamState& state_of(StreamIdentity& stream) noexcept { return static_cast<StreamState&>(stream); }

/// Memory that is released when no graph uses it any more and no stream of `uses` is being
/// captured.
struct DeferredRelease {
  DeferredRelease(const UnheldMemory& unheld, std::vector<Ref<CapturedGraph>>&& used_by) noexcept
      : memory(unheld), graphs(std::move(used_by)) {}

  UnheldMemory memory;
  std::vector<Ref<CapturedGraph>> graphs;
  StreamUses uses;

  bool is_used() const noexcept { return !std::ranges::all_of(graphs, is_destroyed); }
  bool is_being_captured() const noexcept try {
    if (uses.producer() != nullptr && state_of(*uses.producer()).is_captured()) return true;
    const auto streams = uses.all();
    return std::ranges::any_of(streams,
                               [](const auto& stream) { return state_of(*stream).is_captured(); });
  } catch (const std::bad_alloc&) {
    return true;  // not known: the release stays deferred
  }
};

struct GraphMemory {
  Mutex mutex;
  std::vector<Ref<CapturedGraph>> graphs;
  // address -> the graph it was allocated for
  std::unordered_map<const void*, Ref<CapturedGraph>> allocated;
  std::list<DeferredRelease> deferred;

  // The graph that `stream` is being captured into; null if it is not, or if the capture failed.
  Ref<CapturedGraph> graph_of(StreamState& stream) {
    const std::uint64_t id = stream.capture_id();
    if (id == 0) return {};
    for (const Ref<CapturedGraph>& cached : graphs)
      if (cached->id == id && cached->device == stream.device()) return cached;
    graphs.push_back(make_ref<CapturedGraph>(stream.device(), id));
    has_graphs.store(true, std::memory_order_relaxed);
    auto marker = make_ref<DestructionMarker>(graphs.back());
    // Where the device does not report the graph's destruction, the marker is leaked, and so the
    // graph's memory is never released: a leak instead of a data race.
    if (!stream.attach_to_graph(*marker)) marker.detach();
    return graphs.back();
  }

  void remove_destroyed_graphs() noexcept {
    std::erase_if(allocated, [](const auto& entry) { return is_destroyed(entry.second); });
    std::erase_if(graphs, is_destroyed);
    has_graphs.store(!graphs.empty(), std::memory_order_relaxed);
  }
};

// Never destroyed: arrays may be released until the process exits.
GraphMemory& graph_memory() {
  static NeverDestroyed<GraphMemory> instance;
  return *instance;
}

// Makes the producer stream wait for the others, or waits itself where the device cannot order
// them, then releases the memory. If the device fails, the memory is leaked instead of being reused
// while in use.
void release_now(const UnheldMemory& memory, StreamUses& uses) noexcept {
  if (uses.producer() != nullptr && !uses.only_producer_used()) {
    StreamState& producer = state_of(*uses.producer());
    try {
      order_after_others(producer, uses, /*writes=*/true);
    } catch (...) {
      try {
        uses.for_each_to_wait_for(producer, /*writes=*/true,
                                  [](StreamIdentity& other) { state_of(other).synchronize(); });
      } catch (...) {
        return;
      }
    }
  }
  memory.release(memory.context, memory.data, memory.bytes, uses);
}

// The streams of `uses` that are being captured. Needs no heap allocation in the usual case of a
// single stream that is not.
std::vector<Ref<StreamIdentity>> captured_streams(StreamUses& uses) {
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

void record_graph_allocation(StreamState& stream, const void* data) {
  GraphMemory& registry = graph_memory();
  const std::lock_guard lock(registry.mutex);
  if (Ref<CapturedGraph> graph = registry.graph_of(stream))
    registry.allocated[data] = std::move(graph);
}

bool try_defer_release(const UnheldMemory& memory, StreamUses& uses) noexcept {
  try {
    const std::vector<Ref<StreamIdentity>> captured = captured_streams(uses);
    if (captured.empty() && !has_graphs.load(std::memory_order_relaxed)) [[likely]]
      return false;
    GraphMemory& registry = graph_memory();
    const std::lock_guard lock(registry.mutex);
    std::vector<Ref<CapturedGraph>> graphs;
    if (const auto entry = registry.allocated.find(memory.data);
        entry != registry.allocated.end()) {
      if (!is_destroyed(entry->second)) graphs.push_back(entry->second);
      registry.allocated.erase(entry);
    }
    for (const Ref<StreamIdentity>& stream : captured)
      if (Ref<CapturedGraph> graph = registry.graph_of(state_of(*stream)))
        graphs.push_back(std::move(graph));
    if (captured.empty() && graphs.empty()) return false;
    // The captures have failed, so no destruction of a graph will set it.
    if (graphs.empty()) may_release_graph_memory.store(true, std::memory_order_relaxed);
    registry.deferred.emplace_back(memory, std::move(graphs)).uses.take(uses);
  } catch (...) {
    return true;  // out of host memory for the list: the memory is leaked
  }
  return true;
}

void release_graph_memory() noexcept {
  std::list<DeferredRelease> ready;
  {
    GraphMemory& registry = graph_memory();
    const std::lock_guard lock(registry.mutex);
    may_release_graph_memory.store(false, std::memory_order_relaxed);
    for (auto next = registry.deferred.begin(); next != registry.deferred.end();) {
      const auto entry = next++;
      if (entry->is_used()) continue;
      if (entry->is_being_captured())
        may_release_graph_memory.store(true, std::memory_order_relaxed);
      else
        ready.splice(ready.end(), registry.deferred, entry);
    }
    registry.remove_destroyed_graphs();
  }
  // After unlocking, since release functions run foreign code.
  for (DeferredRelease& entry : ready) release_now(entry.memory, entry.uses);
}

void StreamState::release_memory(const UnheldMemory& memory, StreamUses& uses) noexcept {
  // Another thread may reuse the memory and queue work at once.
  flush();
  if (!try_defer_release(memory, uses)) release_now(memory, uses);
}

}  // namespace spanwise::runtime
