// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/streams/stream_state.hpp"
#include "spanwise/runtime/communicator.hpp"

namespace spanwise {

/// A call that is prepared, but not given to the engine.
struct Communicator::Pending {
  CollectiveCall call;  ///< with the packed arrays
  CallDescription description;
  Array result{};            ///< where the caller expects the elements
  bool copies_back = false;  ///< the engine writes to call.target, which is copied to `result`
  bool overlap = false;
  std::int64_t message = -1;  ///< number of a send or recv between its two ranks; -1: no message
};

/// Work of a GPU that the watchdog waits for: complete when `event` is.
struct Communicator::Queued {
  using Clock = std::chrono::steady_clock;
  Ref<runtime::EventState> event;
  /// Set when the watchdog first sees the work. Until then, a later call replaces this object.
  Clock::time_point deadline = Clock::time_point::max();
  std::string text{};  ///< the last call included, for the error
  bool is_seen() const noexcept { return deadline != Clock::time_point::max(); }
};

}  // namespace spanwise
