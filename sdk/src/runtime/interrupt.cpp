// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/interrupt.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "core/string_utils.hpp"

namespace spanwise {
namespace {

constinit std::atomic<InterruptCheck> current{nullptr};
constinit std::atomic<LogSink> log_sink{nullptr};

bool logs_to_standard_error() {
  static const bool is_enabled = [] {
    const std::string names = environment("SPANWISE_LOG");
    return std::ranges::any_of(split(names, ','), [](std::string_view name) {
      return is_one_of(name, {"kernels", "all"});
    });
  }();
  return is_enabled;
}

}  // namespace

void check_interrupt() {
  if (const InterruptCheck check = current.load(std::memory_order_acquire)) check();
}

InterruptCheck set_interrupt_check(InterruptCheck check) noexcept {
  return current.exchange(check, std::memory_order_acq_rel);
}

ProgressLine::ProgressLine(std::string_view what) {
  if (::isatty(STDERR_FILENO) == 0) return;
  what_ = what;
  sigset_t all, previous;  // signals are for the threads of the program
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &previous);
  try {
    thread_ = std::thread([this] { show(); });
  } catch (const std::exception&) {  // the line is lost, not the work that it is about
  }
  ::pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

ProgressLine::~ProgressLine() {
  is_done_.release();
  if (thread_.joinable()) thread_.join();
}

void ProgressLine::show() noexcept {
  int seconds = 2;
  if (is_done_.try_acquire_for(std::chrono::seconds(seconds))) return;
  do {
    std::fprintf(stderr, "\rspanwise: %s: %d s", what_.c_str(), seconds++);
    std::fflush(stderr);
  } while (!is_done_.try_acquire_for(std::chrono::seconds(1)));
  std::fputs("\r\x1b[K", stderr);  // erases the line
  std::fflush(stderr);
}

void set_log_sink(LogSink sink) noexcept { log_sink.store(sink, std::memory_order_release); }

void log_message(LogLevel level, std::string_view text) noexcept {
  try {
    if (logs_to_standard_error())
      std::fprintf(stderr, "spanwise kernels: %.*s\n", static_cast<int>(text.size()), text.data());
  } catch (const std::bad_alloc&) {  // a message is lost, not the work that it is about
  }
  if (const LogSink sink = log_sink.load(std::memory_order_acquire)) sink(level, text);
}

}  // namespace spanwise
