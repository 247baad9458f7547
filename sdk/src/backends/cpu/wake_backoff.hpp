// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace spanwise::cpu_backend {

/// The minimum work that is worth sharing with helpers, adapted to whether sharing was faster.
///
/// On a loaded machine a helper may take a chunk and then not be scheduled for milliseconds, while
/// the caller waits. After such a failure only work of at least twice that time is shared, until
/// helpers save time, or a multiple of the lost time has passed.
class WakeBackoff {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = std::chrono::nanoseconds;

  /// The current threshold, at least `base_threshold`: work that takes one thread less than this is
  /// not shared.
  Duration min_work(Clock::time_point now, Duration base_threshold) const noexcept;
  /// Records that sleeping helpers are being woken. If they are late for the next jobs, it counts
  /// as a failure only if it happens repeatedly and they help with none.
  void note_wake(Clock::time_point now) noexcept;
  /// Records the time of a shared job; one thread would have needed `alone`.
  void record(Clock::time_point now, Duration took, Duration alone) noexcept;

 private:
  static std::int64_t since_epoch(Clock::time_point time) noexcept;

  std::atomic<std::int64_t> min_work_{0};  // threshold in nanoseconds until `until_`
  std::atomic<std::int64_t> until_{0};     // end of the back-off, in nanoseconds; 0 after a success
  std::atomic<std::int64_t> woken_{0};     // time of the last wake, in nanoseconds
  std::atomic<int> wakes_{0};              // wakes since helpers last helped, or since a back-off
};

}  // namespace spanwise::cpu_backend
