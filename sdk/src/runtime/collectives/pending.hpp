// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/streams/stream_state.hpp"
#include "spanwise/communicator.hpp"

namespace spanwise {

/// A call whose arrays are packed.
struct Communicator::Pending {
  CollectiveCall call;
  CallDescription description;
  Array result{};            ///< where the caller expects the elements
  bool copies_back = false;  ///< the engine writes to call.target, which is copied to `result`
  bool overlap = false;
  std::int64_t message = -1;  ///< the number of a message between its two ranks
};

/// Work of a GPU that the watchdog waits for: complete when `event` is.
struct Communicator::Queued {
  using Clock = std::chrono::steady_clock;
  Ref<runtime::EventState> event;
  /// Set when the watchdog first sees the work; later calls replace what it has not seen.
  Clock::time_point deadline = Clock::time_point::max();
  std::string text{};
  bool is_seen() const noexcept { return deadline != Clock::time_point::max(); }
};

}  // namespace spanwise
