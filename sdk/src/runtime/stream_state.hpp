// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "spanwise/devices.hpp"
#include "spanwise/storage.hpp"

/// Streams and events as a back end has them.
namespace spanwise::runtime {

/// A point in a stream.
class EventState : public RefCounted {
 public:
  Device device() const noexcept { return device_; }
  /// CUevent as an integer; 0 on the CPU.
  virtual std::uintptr_t handle() const noexcept = 0;
  virtual void synchronize() = 0;
  virtual bool query() = 0;
  virtual double milliseconds_since(EventState& start) = 0;

 protected:
  explicit EventState(Device device) noexcept : device_(device) {}

 private:
  Device device_;
};

/// A queue of work.
class StreamState : public StreamIdentity {
 public:
  /// CUstream as an integer; 0 on the CPU.
  virtual std::uintptr_t handle() const noexcept = 0;
  virtual void synchronize() = 0;
  virtual bool query() = 0;
  virtual Ref<EventState> record(bool timing) = 0;
  /// `event` may be of another device of the same back end.
  virtual void wait(EventState& event) = 0;

  /// Queues what the calling thread keeps back, on whichever stream (LaunchBatch).
  virtual void flush() noexcept {}

  /// Whether work could not run now: what is queued is recorded into a graph (CUDA: stream capture)
  /// and runs when the graph is launched, or nothing can be queued, because a stream that this one
  /// waits for is being recorded.
  virtual bool is_captured() noexcept { return false; }
  /// Names the recording of this stream for as long as the process lives; 0 where there is none.
  virtual std::uint64_t capture_id() noexcept { return 0; }
  /// Has the graph that this stream is recorded into hold `object` until the graph and all that was
  /// made from it are gone and no longer run. The last reference may then go on a thread where no
  /// function of the device may be called. False where the device does not do it.
  virtual bool attach_to_graph([[maybe_unused]] const RefCounted& object) noexcept { return false; }

  /// For another library's stream that its owner may destroy from here on: a stream of our own,
  /// which comes after the work queued so far, stands for it.
  virtual void detach() noexcept {}
  /// What has to live as long as the stream; for the one who made this object.
  void hold(Ref<RefCounted> owner) noexcept { owner_ = std::move(owner); }

  void release_memory(const UnheldMemory& memory, StreamUses& uses) noexcept final;

 protected:
  using StreamIdentity::StreamIdentity;

 private:
  Ref<RefCounted> owner_;
};

}  // namespace spanwise::runtime
