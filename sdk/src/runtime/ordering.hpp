// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/backend.hpp"
#include "runtime/settings.hpp"
#include "spanwise/export.hpp"

/// Who comes after whom. Order between device streams is made by events; only the host itself waits
/// by blocking, since a CPU stream works in the calling thread.
namespace spanwise::runtime {

/// Whether two objects stand for one queue. Other libraries' streams are told apart by their
/// handle; the per-thread default stream (2) is another queue on each thread, and the host has none
/// (0).
inline bool same_queue(const StreamState& a, const StreamState& b) noexcept {
  constexpr std::uintptr_t per_thread = 2;
  if (&a == &b) return true;
  const std::uintptr_t handle = a.handle();
  return handle != 0 && handle != per_thread && handle == b.handle() && a.device() == b.device();
}

/// Work queued on `stream` from now on starts after what `other` holds now.
SW_API void wait_for(StreamState& stream, StreamState& other);

/// The slow half of order_use(), for storage that other streams have used.
SW_API void order_after_others(StreamState& stream, const StreamUses& uses, bool writes);

/// order_use() of stream.hpp where state and storage are at hand. On one stream it is two
/// comparisons.
inline void order_use(StreamState& stream, const Storage& storage, bool writes) {
  if (!storage) return;
  StreamUses& uses = storage.uses();
  if (!uses.is_only_user(stream) && !uses.none()) order_after_others(stream, uses, writes);
  // Work of the CPU is over when the call returns, so there is nothing to remember.
  if (!stream.device().is_cpu()) uses.record(stream, writes);
}

/// To be called after queueing work: waits where config "launch_blocking" is set.
inline void after_queueing(StreamState& stream) {
  if (launch_blocking()) [[unlikely]]
    stream.synchronize();
}

}  // namespace spanwise::runtime
