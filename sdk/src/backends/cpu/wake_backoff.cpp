// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/wake_backoff.hpp"

#include <algorithm>

namespace spanwise::cpu_backend {
namespace {

// Upper bound of the back-off.
constexpr auto max_backoff = std::chrono::milliseconds(8);
// The length of a back-off in units of the lost time. Failed attempts, in which an interrupted
// helper may delay a short job by milliseconds, then cost at most 6 % of the time.
constexpr int pause_per_loss = 16;
// A job that took less than this beyond its work was not delayed by a helper.
constexpr auto negligible = std::chrono::microseconds(2);
// The number of successive wakes without help that cause no back-off, and the back-off after the
// next one. Each wake of helpers for a job that ends before they run costs some microseconds.
constexpr int max_wakes = 3;
constexpr auto pause_after_wakes = std::chrono::milliseconds(20);
// Delay by which helpers that were just woken may be late before it counts as a failure.
constexpr auto time_to_wake = std::chrono::microseconds(200);

}  // namespace

std::int64_t WakeBackoff::since_epoch(Clock::time_point time) noexcept {
  return Duration(time.time_since_epoch()).count();
}

WakeBackoff::Duration WakeBackoff::min_work(Clock::time_point now,
                                            Duration base_threshold) const noexcept {
  if (since_epoch(now) >= until_.load(std::memory_order_relaxed)) return base_threshold;
  return std::max(base_threshold, Duration(min_work_.load(std::memory_order_relaxed)));
}

void WakeBackoff::note_wake(Clock::time_point now) noexcept {
  woken_.store(since_epoch(now), std::memory_order_relaxed);
  wakes_.fetch_add(1, std::memory_order_relaxed);
}

void WakeBackoff::record(Clock::time_point now, Duration took, Duration alone) noexcept {
  const bool helped = took * 5 < alone * 4, was_delayed = took >= alone + negligible;
  const int wakes = wakes_.load(std::memory_order_relaxed);
  if (!helped && wakes <= max_wakes) {
    const Duration awake(since_epoch(now - took) - woken_.load(std::memory_order_relaxed));
    const bool is_waking = wakes > 0 && awake < time_to_wake && took < alone + time_to_wake;
    if (!was_delayed || is_waking) return;
  }
  // Helpers that are tried again after a back-off have blocked again, so the count restarts.
  if (wakes != 0) wakes_.store(0, std::memory_order_relaxed);
  // Of two concurrent updates one may be lost; later jobs correct that.
  const std::int64_t until = until_.load(std::memory_order_relaxed);
  if (helped) {
    if (until != 0) until_.store(0, std::memory_order_relaxed);
    return;
  }
  const Duration threshold = 2 * std::max(min_work(now, Duration(0)), took);
  const Duration pause = was_delayed ? pause_per_loss * (took - alone) : pause_after_wakes;
  min_work_.store(std::min<Duration>(max_backoff, threshold).count(), std::memory_order_relaxed);
  until_.store(std::max(until, since_epoch(now)) + pause.count(), std::memory_order_relaxed);
}

}  // namespace spanwise::cpu_backend
