// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/wake_backoff.hpp"

#include <algorithm>

namespace spanwise::cpu_backend {
namespace {

// Upper bound of the back-off.
constexpr auto max_backoff = std::chrono::milliseconds(8);
// The length of a back-off in units of the lost time: a helper that is interrupted may delay a
// short job by milliseconds, and such failures then cost at most 1/17, 6 %, of the time.
constexpr int pause_per_loss = 16;
// A helper has delayed a job only if the job took at least this much longer than one thread needs.
constexpr auto negligible_delay = std::chrono::microseconds(2);
// The number of successive wakes without help that cause no back-off, and the back-off after the
// next one. To wake helpers for a job that ends before they run costs some microseconds.
constexpr int max_useless_wakes = 3;
constexpr auto pause_after_useless_wakes = std::chrono::milliseconds(20);
// Delay by which helpers that were just woken may be late before it counts as a failure.
constexpr auto time_to_wake = std::chrono::microseconds(200);

std::int64_t nanoseconds_of(WakeBackoff::Clock::time_point time) {
  return WakeBackoff::Duration(time.time_since_epoch()).count();
}

}  // namespace

WakeBackoff::Duration WakeBackoff::min_work(Clock::time_point now,
                                            Duration base_threshold) const noexcept {
  if (nanoseconds_of(now) >= until_.load(std::memory_order_relaxed)) return base_threshold;
  return std::max(base_threshold, Duration(min_work_.load(std::memory_order_relaxed)));
}

void WakeBackoff::note_wake(Clock::time_point now) noexcept {
  last_wake_.store(nanoseconds_of(now), std::memory_order_relaxed);
  wakes_.fetch_add(1, std::memory_order_relaxed);
}

void WakeBackoff::record(Clock::time_point now, Duration elapsed, Duration alone) noexcept {
  const bool helped = elapsed * 5 < alone * 4, was_delayed = elapsed >= alone + negligible_delay;
  const int wakes = wakes_.load(std::memory_order_relaxed);
  if (!helped && wakes <= max_useless_wakes) {
    const Duration since_wake(nanoseconds_of(now - elapsed) -
                              last_wake_.load(std::memory_order_relaxed));
    const bool are_waking =
        wakes > 0 && since_wake < time_to_wake && elapsed < alone + time_to_wake;
    if (!was_delayed || are_waking) return;
  }
  // After a back-off helpers sleep again, so the count restarts.
  if (wakes != 0) wakes_.store(0, std::memory_order_relaxed);
  // Of two concurrent updates one may be lost; later jobs correct that.
  const std::int64_t until = until_.load(std::memory_order_relaxed);
  if (helped) {
    if (until != 0) until_.store(0, std::memory_order_relaxed);
    return;
  }
  const Duration threshold = 2 * std::max(min_work(now, Duration(0)), elapsed);
  const Duration pause =
      was_delayed ? pause_per_loss * (elapsed - alone) : pause_after_useless_wakes;
  min_work_.store(std::min<Duration>(max_backoff, threshold).count(), std::memory_order_relaxed);
  until_.store(std::max(until, nanoseconds_of(now)) + pause.count(), std::memory_order_relaxed);
}

}  // namespace spanwise::cpu_backend
