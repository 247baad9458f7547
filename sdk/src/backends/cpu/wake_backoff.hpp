// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace spanwise::cpu_backend {

/// The minimum work that a thread shares with helper threads of the ThreadPool, adapted to whether
/// sharing was faster. Thread-safe.
///
/// On a loaded machine a helper may take a chunk and then not be scheduled for milliseconds, while
/// the caller waits. After such a failure only work of at least twice that time is shared, until
/// helpers save time, or a multiple of the lost time has passed.
class WakeBackoff {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = std::chrono::nanoseconds;

  /// The current threshold, at least `base_threshold`: work that one thread completes in less time
  /// than this is not shared.
  Duration min_work(Clock::time_point now, Duration base_threshold) const noexcept;
  /// Records that sleeping helpers are being woken. Helpers that come too late for the jobs that
  /// follow are a failure only after several wakes without any help.
  void note_wake(Clock::time_point now) noexcept;
  /// Records that a shared job took `elapsed`; one thread would have needed `alone`.
  void record(Clock::time_point now, Duration elapsed, Duration alone) noexcept;

 private:
  // In nanoseconds: the threshold during a back-off, the end of the back-off (0 after a success),
  // and the time of the last wake.
  std::atomic<std::int64_t> min_work_{0}, until_{0}, last_wake_{0};
  std::atomic<int> wakes_{0};  // wakes since helpers last helped, or since a back-off
};

}  // namespace spanwise::cpu_backend
