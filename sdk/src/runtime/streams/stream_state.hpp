// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "spanwise/core/storage.hpp"

/// The interface of a back end's streams and events.
namespace spanwise::runtime {

/// The handle of the per-thread default stream (CU_STREAM_PER_THREAD), which is another stream on
/// each thread.
inline constexpr std::uintptr_t per_thread_stream = 2;

/// An event recorded in a stream.
class EventState : public RefCounted {
 public:
  Device device() const noexcept { return device_; }
  /// CUevent as an integer; 0 on the CPU.
  virtual std::uintptr_t handle() const noexcept = 0;
  virtual void synchronize() = 0;
  /// Whether the work before the event is complete. Does not wait.
  virtual bool query() = 0;
  /// Both events must be recorded with timing.
  virtual double milliseconds_since(EventState& start) = 0;

 protected:
  explicit EventState(Device device) noexcept : device_(device) {}

 private:
  Device device_;
};

/// A stream. Every StreamIdentity is one.
class StreamState : public StreamIdentity {
 public:
  /// CUstream as an integer; 0 on the CPU.
  virtual std::uintptr_t handle() const noexcept = 0;
  virtual void synchronize() = 0;
  /// Whether all queued work is complete. Does not wait.
  virtual bool query() = 0;
  virtual Ref<EventState> record(bool timing) = 0;
  /// Makes work queued from now on wait for `event`, which may be of another device of the same
  /// back end.
  virtual void wait(EventState& event) = 0;

  /// Submits the launches that the calling thread has batched on any stream (LaunchBatch).
  virtual void flush() noexcept {}

  /// Whether queued work does not run now: the stream is being captured into a graph, or nothing
  /// can be queued because a stream that this one waits for is being captured.
  virtual bool is_captured() noexcept { return false; }
  /// Identifies the capture of this stream, unique in the process; 0 where there is none.
  virtual std::uint64_t capture_id() noexcept { return 0; }
  /// Attaches a reference to `object` to the graph that this stream is being captured into; it is
  /// dropped when the graph and all its executable instances are destroyed and no longer run,
  /// possibly on a thread where no function of the driver may be called. Returns false where the
  /// device does not support this.
  virtual bool attach_to_graph([[maybe_unused]] const RefCounted& object) noexcept { return false; }

  /// For a foreign stream whose owner may destroy it from here on: replaces it by a new stream of
  /// this back end, which waits for the work queued so far.
  virtual void detach() noexcept {}
  /// Keeps `owner`, which keeps the foreign stream alive, as long as this object. Called only by
  /// the creator of this object, before other threads use it.
  void hold(Ref<RefCounted> owner) noexcept { owner_ = std::move(owner); }

  void release_memory(const UnheldMemory& memory, StreamUses& uses) noexcept final;

 protected:
  using StreamIdentity::StreamIdentity;

 private:
  Ref<RefCounted> owner_;
};

}  // namespace spanwise::runtime
