// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

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

  bool come_after(const StreamUses& uses) noexcept final;

 protected:
  using StreamIdentity::StreamIdentity;
};

}  // namespace spanwise::runtime
