// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <type_traits>
#include <vector>

#include "backends/cpu/float_state.hpp"
#include "backends/cpu/wake_backoff.hpp"

namespace spanwise::cpu_backend {

/// When helper threads are woken, which costs some microseconds, too much for a small job.
enum class Helpers {
  when_worth_it,  ///< after the first chunk, if WakeBackoff::min_work() remains
  at_once,
};

/// The threads that share the work of a launch or a copy. They are started at the first use and
/// never end.
///
/// Several threads may run jobs at once; each works on its own job, and idle helpers join any job
/// with chunks left, using its caller's floating-point state. A forked child starts its own
/// helpers.
class ThreadPool {
 public:
  /// One per process, never destroyed: helpers may outlive static objects.
  static ThreadPool& instance();

  /// Threads that can work on one job, the caller included: config "cpu_threads".
  int workers();

  /// Calls work(chunk) for every chunk in [0, chunks), started in ascending order, and returns when
  /// all are done. After an exception no more chunks are started; the first exception is rethrown
  /// here.
  template <class F>
  void run(std::uint64_t chunks, Helpers wake, F&& work) {
    using Work = std::remove_reference_t<F>;
    Job job(
        chunks, [](void* f, std::uint64_t chunk) { (*static_cast<Work*>(f))(chunk); },
        const_cast<std::remove_const_t<Work>*>(&work));
    run(job, wake);
  }

 private:
  struct Job {
    using Call = void (*)(void* context, std::uint64_t chunk);
    Job(std::uint64_t count, Call function, void* data)
        : chunks(count), call(function), context(data) {}
    bool has_chunks() const noexcept { return next.load(std::memory_order_relaxed) < chunks; }

    const std::uint64_t chunks;
    const Call call;
    void* const context;
    std::atomic<std::uint64_t> next{0};
    std::atomic<int> active_helpers{0};  // changed under the pool's mutex
    int max_helpers = 0;                 // guarded by the pool's mutex, as is error
    std::exception_ptr error;
    FloatState float_state;  // the caller's, set before helpers see the job
  };

  struct Helper {
    pid_t thread;
    int avoided = -1;  // processor that it may not run on; -1: none
  };

  ThreadPool() = default;
  void run(Job& job, Helpers wake);
  bool is_worth_sharing(Job& job, Helpers wake);
  void run_shared(Job& job);
  bool try_run_chunk(Job& job) noexcept;
  void publish(Job& job, WakeBackoff::Clock::time_point now);
  void start_helpers(int count);
  void move_helpers(int processor, WakeBackoff::Clock::time_point now);
  void retire(Job& job, WakeBackoff::Duration expected);
  void help_forever();
  Job* join_job();

  WakeBackoff backoff_;
  std::atomic<int> workers_{1};
  std::atomic<std::uint64_t> settings_version_{0};  // config::version() at which workers_ was read
  std::atomic<std::uint32_t> published_{0};         // counts jobs; idle helpers watch it
  std::mutex mutex_;                                // guards the members below
  std::condition_variable published_changed_;       // wakes sleeping helpers
  std::condition_variable job_left_;                // the last helper has left a job
  std::vector<Job*> jobs_;
  std::vector<Helper> helpers_;
  int caller_processor_ = -1;  // processor of the last caller, which helpers avoid
  WakeBackoff::Clock::time_point next_move_{};
  int started_ = 0;   // helpers; each adds itself to helpers_
  int sleeping_ = 0;  // helpers waiting on published_changed_ that have not been notified
};

}  // namespace spanwise::cpu_backend
