// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "backends/cuda/context.hpp"
#include "runtime/backend.hpp"
#include "spanwise/fork.hpp"

namespace spanwise::cuda {

/// The driver's events of one device, kept for reuse: making one costs microseconds, recording one
/// a fraction of that. An event may be reused while streams still wait for it: they wait for what
/// it stood for when they were told to (cuEventRecord).
class EventPool {
 public:
  explicit EventPool(const DriverApi& api) : api_(api) {}
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;

  /// The device's context is current.
  CUevent take(bool timing);
  void give_back(CUevent event, bool timing) noexcept;

 private:
  const DriverApi& api_;
  Mutex mutex_;
  std::array<std::vector<CUevent>, 2> free_;  // without timing, with it
};

/// A recorded event. Waiting for it from another stream is the stream's business
/// (CudaStream::wait).
class CudaEvent final : public runtime::EventState {
 public:
  /// Records on `stream`, which belongs to `context`, current now.
  CudaEvent(DeviceContext& context, CUstream stream, bool timing);
  /// Another library's, which owns it and has recorded it.
  CudaEvent(DeviceContext& context, CUevent foreign);
  ~CudaEvent() override;

  std::uintptr_t handle() const noexcept override {
    return reinterpret_cast<std::uintptr_t>(event_);
  }
  void synchronize() override;
  bool query() override;
  double milliseconds_since(runtime::EventState& start) override;

  CUevent raw() const noexcept { return event_; }
  /// Recorded into a graph: it stands for a place in the graph and never comes to pass by itself.
  bool is_captured() const noexcept { return captured_; }
  /// It does not go back to the pool: a graph waits for this event at each launch, so it must never
  /// stand for anything else.
  void retire() noexcept { retired_.store(true, std::memory_order_relaxed); }

 private:
  DeviceContext& context_;
  CUevent event_;
  bool timing_;
  bool captured_;
  std::atomic<bool> retired_{false};
};

}  // namespace spanwise::cuda
