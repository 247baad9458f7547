// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "runtime/stream_state.hpp"
#include "spanwise/export.hpp"

/// Memory that recorded work uses. While a stream is recorded into a graph (CUDA: stream capture),
/// what is queued on it runs later, each time that the graph is launched, so memory that it reads or
/// writes must not serve anything else as long as the graph exists. Two kinds of memory are known
/// to be in use by a graph: what was allocated on a recorded stream, and what was dropped while a
/// stream that it was used on was recorded. Both are given back after the graph has gone. Any
/// thread.
namespace spanwise::runtime {

/// Notes that `data` was allocated on `stream`, which is being recorded. Does nothing, and the
/// memory is given back as any other, where the recording has failed already.
void note_graph_memory(StreamState& stream, const void* data);

/// Keeps memory that has no holder any more for later, where a graph uses it or a stream of `uses`
/// is being recorded; then `uses` is taken over. False, and nothing has changed, for other memory.
bool keep_for_graph(const UnheldMemory& memory, StreamUses& uses) noexcept;

/// Set where a graph has gone, or where the end of a recording is all that kept memory waits for.
extern std::atomic<bool> may_release_graph_memory;

/// Gives back what is kept and no graph uses any more.
void release_graph_memory() noexcept;

/// The same for those that allocate, who pay for it only where there may be any.
inline void collect_graph_memory() noexcept {
  if (may_release_graph_memory.load(std::memory_order_relaxed)) [[unlikely]]
    release_graph_memory();
}

}  // namespace spanwise::runtime
