// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "spanwise/array.hpp"
#include "spanwise/device.hpp"
#include "spanwise/export.hpp"
#include "spanwise/ref.hpp"

namespace spanwise {

namespace runtime {
class StreamState;
class EventState;
}  // namespace runtime

class Event;

/// A queue of work on one device, run in order. Copying shares the queue.
///
/// On a GPU this is a CUstream of the device's primary context. On the CPU work is done by the
/// calling thread (and its helpers) before the call returns, so a CPU stream is always idle.
class SW_API Stream {
 public:
  /// A new queue that does not wait for the legacy default stream. Throws DeviceError.
  static Stream create(Device device);
  /// Another library's CUstream (1: legacy default, 2: per-thread default). Not owned: it must live
  /// as long as this object and its copies. Arrays that were used on it may live longer: where
  /// there are such, the last copy has a stream of ours come after what is queued, which stands for
  /// it from then on; not while the stream is being captured, when it has to live as long as they
  /// do. Throws ArgumentError for 0, which is ambiguous.
  static Stream foreign(Device device, std::uintptr_t handle);
  /// The same for one that lives as long as `owner`, which is held as long as this object, its
  /// copies and the arrays that remember work on the stream, and may go on any thread.
  static Stream foreign(Device device, std::uintptr_t handle, Ref<RefCounted> owner);
  /// The same for one that lives as long as the process, as PyTorch's do: the driver is asked about
  /// a handle once.
  static Stream lasting(Device device, std::uintptr_t handle);
  /// The calling thread's current stream of `device`: the innermost StreamGuard's, else one stream
  /// per device that all threads share.
  static Stream current(Device device);
  explicit Stream(Ref<runtime::StreamState> state) noexcept;
  /// The stream behind an identity that StreamUses names; every identity is one of the runtime's.
  static Stream of(StreamIdentity& identity) noexcept { return Stream(Ref<RefCounted>(&identity)); }

  Device device() const noexcept;
  /// CUstream as an integer; 0 on the CPU.
  std::uintptr_t handle() const noexcept;
  /// Blocks the calling thread until the queue is empty. Errors of earlier asynchronous work
  /// surface here.
  void synchronize() const;
  /// True when all queued work is done. Never blocks.
  bool query() const;
  /// Work queued from now on starts after `event`. Does not block; legal during capture.
  void wait(const Event& event) const;
  /// Work queued from now on starts after what `other` holds now. Does not block.
  void wait(const Stream& other) const;
  /// Marks this point of the queue.
  Event record(bool timing = false) const;

  /// What StreamUses knows it by.
  StreamIdentity& identity() const noexcept { return static_cast<StreamIdentity&>(*state_); }
  /// The same, with what this holds; this is of no use afterwards.
  Ref<StreamIdentity> take_identity() && noexcept {
    return Ref<StreamIdentity>::adopt(static_cast<StreamIdentity*>(state_.detach()));
  }
  runtime::StreamState& state() const noexcept;
  /// One queue, though maybe two objects: another library's streams are equal where their handles
  /// are.
  friend SW_API bool operator==(const Stream& a, const Stream& b) noexcept;

 private:
  explicit Stream(Ref<RefCounted> state) noexcept : state_(std::move(state)) {}

  // For a foreign stream without an owner: what ends with the last copy. Goes after state_.
  Ref<RefCounted> use_;
  Ref<RefCounted> state_;  // a runtime::StreamState, which this header only names
};

/// A point in a stream. Copying shares it.
class SW_API Event {
 public:
  explicit Event(Ref<runtime::EventState> state) noexcept;
  /// Another library's CUevent, recorded already. Not owned: it must live as long as this object.
  /// Throws ArgumentError for 0 and for a device that is no GPU.
  static Event foreign(Device device, std::uintptr_t handle);
  Device device() const noexcept;
  /// CUevent as an integer; 0 on the CPU.
  std::uintptr_t handle() const noexcept;
  void synchronize() const;
  bool query() const;
  /// Milliseconds from `start` to this event; both must have been recorded with timing. Throws
  /// DeviceError where either has not passed yet.
  double milliseconds_since(const Event& start) const;
  runtime::EventState& state() const noexcept;

 private:
  Ref<RefCounted> state_;
};

/// Makes `stream` the calling thread's current stream of its device until the guard goes.
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

/// Orders coming work on `stream` after all queued work on `array`'s bytes that it must not
/// overtake (by events, without blocking), and remembers the use. Every launch and copy does this
/// for its operands; call it where you hand a pointer to code of your own.
SW_API void order_use(const Stream& stream, const Array& array, bool writes);

}  // namespace spanwise
