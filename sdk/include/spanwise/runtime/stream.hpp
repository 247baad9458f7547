// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "spanwise/core/array.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/core/ref.hpp"

namespace spanwise {

namespace runtime {
class StreamState;
class EventState;
class GraphState;
}  // namespace runtime

class Event;

/// A stream: work on one device, executed in the order of queueing. Copying shares the stream.
///
/// On a GPU this is a CUstream of the device's primary context. On the CPU the calling thread (and
/// its worker threads) finish the work before the call returns, so a CPU stream is always idle.
class SW_API Stream {
 public:
  /// Creates a non-blocking stream (it does not synchronise with the legacy default stream). Throws
  /// DeviceError.
  static Stream create(Device device);
  /// The same with a priority: the GPU prefers the work of streams with lower numbers, -5 to 0 on
  /// present devices. Others are limited to the device's range.
  static Stream create(Device device, int priority);
  /// Wraps another library's CUstream (1: legacy default, 2: per-thread default) without owning it:
  /// the stream must live as long as this object and its copies. Arrays used on it may live longer:
  /// if there are any when the last copy is destroyed, a stream of Spanwise's own is made to wait
  /// for the work queued so far and takes its place in their records. Exception: a stream that is
  /// being captured must live as long as those arrays. Throws ArgumentError for handle 0, which is
  /// ambiguous, and for a device that is no GPU.
  static Stream foreign(Device device, std::uintptr_t handle);
  /// The same for a stream that lives as long as `owner`. A reference to `owner` is held by this
  /// object, its copies and the arrays that record work on the stream; it may be dropped on any
  /// thread.
  static Stream foreign(Device device, std::uintptr_t handle, Ref<RefCounted> owner);
  /// The same for a stream that lives as long as the process, as PyTorch's do: the driver is
  /// queried once per handle, and the result is cached.
  static Stream persistent(Device device, std::uintptr_t handle);
  [[deprecated("use persistent()")]] static Stream lasting(Device device, std::uintptr_t handle) {
    return persistent(device, handle);
  }
  /// The calling thread's current stream of `device`: the innermost StreamGuard's, else the
  /// device's default stream, which all threads share. Throws DeviceError.
  static Stream current(Device device);
  explicit Stream(Ref<runtime::StreamState> state) noexcept;
  /// The stream of an identity recorded in StreamUses; every StreamIdentity is a
  /// runtime::StreamState.
  static Stream of(StreamIdentity& identity) noexcept { return Stream(Ref<RefCounted>(&identity)); }

  Device device() const noexcept;
  /// CUstream as an integer; 0 on the CPU.
  std::uintptr_t handle() const noexcept;
  /// Blocks the calling thread until all queued work is done. Throws DeviceError for errors of
  /// earlier asynchronous work.
  void synchronize() const;
  /// True when all queued work is done. Never blocks.
  bool query() const;
  /// Whether queued work does not run now: the stream is being captured into a graph, or nothing
  /// can be queued because a stream that this one waits for is being captured. Never blocks.
  bool is_captured() const noexcept;
  /// Work queued from now on starts after `event`. Legal during capture. Does not block, except
  /// that a CPU stream blocks the calling thread until a GPU's event has completed.
  void wait(const Event& event) const;
  /// Work queued from now on starts after the work that `other` has queued so far. Blocks only as
  /// wait(event) does.
  void wait(const Stream& other) const;
  /// Records an event after the work queued so far. `timing` enables milliseconds_since().
  Event record(bool timing = false) const;

  /// The identity recorded in StreamUses.
  StreamIdentity& identity() const noexcept { return static_cast<StreamIdentity&>(*state_); }
  /// Moves this object's reference into the result; afterwards it can only be destroyed or assigned
  /// to.
  Ref<StreamIdentity> take_identity() && noexcept {
    return Ref<StreamIdentity>::adopt(static_cast<StreamIdentity*>(state_.detach()));
  }
  runtime::StreamState& state() const noexcept;
  /// Whether both refer to the same stream: the same object, or foreign streams of one device with
  /// the same handle (not the per-thread default).
  friend SW_API bool operator==(const Stream& a, const Stream& b) noexcept;

 private:
  explicit Stream(Ref<RefCounted> state) noexcept : state_(std::move(state)) {}

  // Set for a foreign stream without an owner: detaches the state when the last copy is destroyed.
  // Declared before state_, so that it is destroyed after it.
  Ref<RefCounted> foreign_use_;
  Ref<RefCounted> state_;  // a runtime::StreamState, which is incomplete here
};

/// An event recorded in a stream. Copying shares it.
class SW_API Event {
 public:
  explicit Event(Ref<runtime::EventState> state) noexcept;
  /// Wraps another library's CUevent, which has been recorded, without owning it: it must live as
  /// long as this object. Throws ArgumentError for 0 and for a device that is no GPU.
  static Event foreign(Device device, std::uintptr_t handle);
  Device device() const noexcept;
  /// CUevent as an integer; 0 on the CPU.
  std::uintptr_t handle() const noexcept;
  /// Blocks the calling thread until the work before the event is done. Throws DeviceError for
  /// errors of that work.
  void synchronize() const;
  /// True when the work before the event is done. Never blocks.
  bool query() const;
  /// Milliseconds from `start` to this event; both must have been recorded with timing. Throws
  /// DeviceError where either has not completed, ArgumentError for events of two devices.
  double milliseconds_since(const Event& start) const;
  runtime::EventState& state() const noexcept;

 private:
  Ref<RefCounted> state_;
};

/// Makes `stream` the calling thread's current stream of its device for the lifetime of the guard.
class SW_API StreamGuard {
 public:
  explicit StreamGuard(Stream stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  Stream stream_, previous_;
  bool had_previous_;
};

/// Work captured from a stream of its own, which replay() queues again with the same arrays, at the
/// cost of one launch. Copying shares the graph.
///
/// Arrays that the work reads must be kept alive and are read at each replay; what it allocates
/// lives as long as the graph.
class SW_API CapturedGraph {
 public:
  /// Throws DeviceError.
  explicit CapturedGraph(Device device) : stream_(Stream::create(device)) {}
  Device device() const noexcept { return stream_.device(); }
  /// The stream whose work is captured between begin() and end(), which one thread calls.
  const Stream& stream() const noexcept { return stream_; }
  /// Throws DeviceError, on the CPU too, whose work is executed when it is queued.
  void begin();
  /// Throws DeviceError where the work cannot be captured, such as a wait for the device; there is
  /// no graph then.
  void end();
  /// Queues the captured work on `stream`. Later uses of its arrays come after it. Throws
  /// ArgumentError if nothing was captured, DeviceError.
  void replay(const Stream& stream) const;

 private:
  Stream stream_;
  Ref<RefCounted> graph_;  // a runtime::GraphState, which is incomplete here
};

/// Makes work queued on `stream` from now on wait for all earlier work on `array`'s memory that
/// conflicts with it (by events; for a CPU stream by blocking), and records the use. Every launch
/// and copy does this for its operands; call it before you pass a pointer to other code.
SW_API void order_use(const Stream& stream, const Array& array, bool writes);

/// For work on `device` that was aborted while it was queued, whose results are incomplete: the
/// next wait of the host for the device throws CollectiveError with `reason`, once. Only the first
/// reason is kept until then.
SW_API void fail_next_wait(Device device, std::string reason) noexcept;

}  // namespace spanwise
