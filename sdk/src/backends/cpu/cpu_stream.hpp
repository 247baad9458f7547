// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include "runtime/backend.hpp"

namespace spanwise::cpu_backend {

/// A point in time. Work on the CPU is synchronous, so an event has always completed.
class CpuEvent final : public runtime::EventState {
 public:
  CpuEvent(Device device, bool timing);
  std::uintptr_t handle() const noexcept override { return 0; }
  void synchronize() override {}
  bool query() override { return true; }
  double milliseconds_since(EventState& start) override;

 private:
  std::optional<std::chrono::steady_clock::time_point> time_;
};

/// Work on the CPU is synchronous, so a stream is always idle.
class CpuStream final : public runtime::StreamState {
 public:
  explicit CpuStream(Device device) noexcept : StreamState(device) {}
  std::uintptr_t handle() const noexcept override { return 0; }
  void synchronize() override {}
  bool query() override { return true; }
  Ref<runtime::EventState> record(bool timing) override;
  void wait(runtime::EventState& event) override { event.synchronize(); }
};

}  // namespace spanwise::cpu_backend
