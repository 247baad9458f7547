// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "runtime/backend.hpp"

/// Memory used by captured graphs. Work queued on a stream during stream capture runs later, at
/// each launch of the graph, so memory that it accesses must not be reused as long as the graph
/// exists: memory allocated on a stream under capture, and memory released while a stream that used
/// it is under capture. Both are released after the graph has been destroyed. All functions are
/// thread-safe.
namespace spanwise::runtime {

/// Records that `data` was allocated on `stream`, which is being captured. Does nothing if the
/// capture has failed already; the memory is then released normally.
void record_graph_allocation(StreamState& stream, const void* data);

/// Defers the release of `memory` if a graph uses it or a stream of `uses` is being captured, and
/// takes the contents of `uses`. Else returns false and changes nothing.
bool try_defer_release(const UnheldMemory& memory, StreamUses& uses) noexcept;

/// Set when a graph has been destroyed, or when deferred memory only waits for the end of a
/// capture.
extern std::atomic<bool> may_release_graph_memory;

/// Releases deferred memory that no graph uses any more.
void release_graph_memory() noexcept;

/// Calls release_graph_memory() if may_release_graph_memory is set. Called before each allocation,
/// so the usual case is one atomic load.
inline void collect_graph_memory() noexcept {
  if (may_release_graph_memory.load(std::memory_order_relaxed)) [[unlikely]]
    release_graph_memory();
}

}  // namespace spanwise::runtime
