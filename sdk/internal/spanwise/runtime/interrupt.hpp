// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <semaphore>
#include <string>
#include <string_view>
#include <thread>

#include "spanwise/core/export.hpp"

namespace spanwise {

/// Throws where the calling thread should stop waiting (in Python: KeyboardInterrupt). Without a
/// registered check, waits are not interrupted.
using InterruptCheck = void (*)();

/// Interval between two checks during a wait, in milliseconds.
inline constexpr int interrupt_check_ms = 50;

/// Calls the registered check. Code that waits for another process, or for a thread that does,
/// calls this before the wait, after each EINTR and every interrupt_check_ms, without holding a
/// lock that the check may need.
void check_interrupt();

/// Lets the threads of one long computation on the CPU stop early. Made by the thread that starts
/// them and takes part.
class StopPoint {
 public:
  /// Whether to continue. In the thread that made the object it calls check_interrupt() about every
  /// interrupt_check_ms; where that throws, the other threads get false from then on.
  bool pass() {
    if (stops_.load(std::memory_order_relaxed)) return false;
    if (std::this_thread::get_id() != thread_ || Clock::now() < next_check_) return true;
    next_check_ = Clock::now() + interval;
    try {
      check_interrupt();
    } catch (...) {
      stops_.store(true, std::memory_order_relaxed);
      throw;
    }
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds interval{interrupt_check_ms};

  std::atomic<bool> stops_{false};
  std::thread::id thread_ = std::this_thread::get_id();
  Clock::time_point next_check_ = Clock::now() + interval;
};

/// While it exists, a terminal on standard error shows what the process works on and for how long,
/// from the third second on. Other files show nothing.
class ProgressLine {
 public:
  explicit ProgressLine(std::string_view what);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void show() noexcept;

  std::string what_;
  std::binary_semaphore is_done_{0};
  std::thread thread_;
};

/// Registers `check`; null removes it. Returns the previous check.
SW_API InterruptCheck set_interrupt_check(InterruptCheck check) noexcept;

/// The levels of messages, with the numbers of Python's module logging.
enum class LogLevel { debug = 10, info = 20, warning = 30 };
using LogSink = void (*)(LogLevel level, std::string_view text) noexcept;

/// Registers where messages go beside standard error; null removes it.
SW_API void set_log_sink(LogSink sink) noexcept;

/// Passes a message about compiles, the cache or fallbacks to the sink, and to standard error if
/// the environment variable SPANWISE_LOG contains "kernels" or "all" among its comma-separated
/// words. Call it without holding a lock that the sink may need, such as one that is taken under
/// Python's GIL.
void log_message(LogLevel level, std::string_view text) noexcept;

}  // namespace spanwise
