// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/backend.hpp"
#include "runtime/settings.hpp"

/// Ordering between streams. GPU streams wait for one another by events; a CPU stream, which runs
/// in the calling thread, waits by blocking.
namespace spanwise::runtime {

/// Whether two objects refer to the same stream. Streams of other libraries are compared by handle,
/// except per_thread_stream and CPU streams, which have no handle (0).
inline bool same_queue(const StreamState& a, const StreamState& b) noexcept {
  if (&a == &b) return true;
  const std::uintptr_t handle = a.handle();
  return handle != 0 && handle != per_thread_stream && handle == b.handle() &&
         a.device() == b.device();
}

/// Work queued on `stream` from now on starts after the work that `other` has queued so far.
void wait_for(StreamState& stream, StreamState& other);

/// The slow path of order_use(), for storage that other streams have used.
void order_after_others(StreamState& stream, const StreamUses& uses, bool writes);

/// order_use() of stream.hpp for a StreamState and a Storage. While one stream uses the storage it
/// costs two comparisons.
inline void order_use(StreamState& stream, const Storage& storage, bool writes) {
  if (!storage) return;
  StreamUses& uses = storage.uses();
  if (!uses.is_only_user(stream) && !uses.none()) order_after_others(stream, uses, writes);
  // CPU work is done when the call returns, so it is not recorded.
  if (!stream.device().is_cpu()) uses.record(stream, writes);
}

extern std::atomic<bool> any_wait_fails;
void throw_failed_wait(Device device);
/// Throws the error of fail_next_wait() once. Call after each wait of the host for `device`.
inline void check_wait(Device device) {
  if (any_wait_fails.load(std::memory_order_acquire)) [[unlikely]]
    throw_failed_wait(device);
}

/// To be called after queueing work: synchronises the stream if config "launch_blocking" is set.
inline void after_queueing(StreamState& stream) {
  if (launch_blocking()) [[unlikely]]
    stream.synchronize();
}

/// The back end's foreign_stream(), the same object for the same handle, for streams that other
/// libraries never destroy, such as PyTorch's: every import from such a library passes a stream's
/// handle, and querying the driver about one takes several calls. per_thread_stream is not cached.
Ref<StreamState> persistent_stream(Device device, std::uintptr_t handle);

/// Clears the cache before the back end that made the streams is replaced. Not thread-safe.
void clear_persistent_streams() noexcept;

}  // namespace spanwise::runtime
