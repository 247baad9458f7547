// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "backends/cuda/context.hpp"
#include "runtime/backend.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::cuda {

/// A pool of driver events of one device: creating an event takes microseconds, recording one a
/// fraction of that. An event may be reused while streams still wait for it: they wait for the
/// record that was current when cuStreamWaitEvent was called.
class EventPool {
 public:
  explicit EventPool(const DriverApi& api) : api_(api) {}
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;

  /// An event from the pool, or a new one; `timing`: whether it measures time. The device's context
  /// must be current. Throws DeviceError.
  CUevent take(bool timing);
  /// Returns an event of take(timing) to the pool.
  void put(CUevent event, bool timing) noexcept;

 private:
  const DriverApi& api_;
  Mutex mutex_;
  std::array<std::vector<CUevent>, 2> free_;  // without timing, with it
};

/// A recorded event. CudaStream::wait() makes a stream wait for it.
class CudaEvent final : public runtime::EventState {
 public:
  /// Records on `stream`, which belongs to `context`. The context must be current.
  CudaEvent(DeviceContext& context, CUstream stream, bool timing);
  /// Wraps an event that another library owns and has recorded.
  CudaEvent(DeviceContext& context, CUevent foreign);
  ~CudaEvent() override;

  std::uintptr_t handle() const noexcept override {
    return reinterpret_cast<std::uintptr_t>(event_);
  }
  void synchronize() override;
  bool query() override;
  double milliseconds_since(runtime::EventState& start) override;

  CUevent raw() const noexcept { return event_; }
  /// Recorded on a captured stream: the event refers to a node of the graph and never completes by
  /// itself.
  bool is_captured() const noexcept { return captured_; }
  /// Keeps the event out of the pool for ever, because a graph waits for it at each launch: it must
  /// not be recorded again.
  void retire() noexcept { retired_.store(true, std::memory_order_relaxed); }

 private:
  DeviceContext& context_;
  CUevent event_;
  bool timing_;
  bool captured_;
  std::atomic<bool> retired_{false};
};

}  // namespace spanwise::cuda
