// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <type_traits>
#include <vector>

#include "backends/cpu/float_state.hpp"

namespace spanwise::cpu_backend {

/// When helpers are woken. Waking them costs some microseconds, too much for a small job.
enum class Helpers {
  when_worth_it,  ///< after the first chunk, if the remaining work takes long enough
  at_once,
};

/// The least work that is worth sharing with helpers, adapted to whether sharing was faster.
///
/// On a loaded machine a helper may take a chunk and then not be scheduled for milliseconds, while
/// the caller waits. After such a failure only work of at least twice that time is shared, until
/// helpers help, or a multiple of the lost time has passed.
class WakeBackoff {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = std::chrono::nanoseconds;

  /// The current threshold, at least `usual`: work that takes one thread less than this is not
  /// shared.
  Duration least_work(Clock::time_point now, Duration usual) const noexcept;
  /// Records that sleeping helpers are being woken. If they are late for the next jobs, it counts
  /// as a failure only if it happens repeatedly and they help with none.
  void note_wake(Clock::time_point now) noexcept;
  /// Records the time of a shared job; one thread would have needed `alone`.
  void learn(Clock::time_point now, Duration took, Duration alone) noexcept;

 private:
  static std::int64_t since_epoch(Clock::time_point time) noexcept;

  std::atomic<std::int64_t> least_{0};  // threshold in nanoseconds until `until_`
  std::atomic<std::int64_t> until_{0};  // end of the back-off, in nanoseconds; 0 after a success
  std::atomic<std::int64_t> woken_{0};  // time of the last wake, in nanoseconds
  std::atomic<int> wakes_{0};           // wakes since helpers last helped, or since a back-off
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
  void run(std::uint64_t chunks, Helpers helpers, F&& work) {
    using Work = std::remove_reference_t<F>;
    Job job(
        chunks, [](void* f, std::uint64_t chunk) { (*static_cast<Work*>(f))(chunk); },
        const_cast<std::remove_const_t<Work>*>(&work));
    run(job, helpers);
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
    std::atomic<int> helpers{0};  // changed under the pool's mutex
    int most_helpers = 0;         // guarded by the pool's mutex, as is error
    std::exception_ptr error;
    FloatState floats;  // the caller's, set before helpers see the job
  };

  struct Helper {
    explicit Helper(pid_t id) : thread(id) {}
    pid_t thread;
    int avoided = -1;  // processor that it may not run on
  };

  ThreadPool() = default;
  void run(Job& job, Helpers helpers);
  bool is_worth_sharing(Job& job, Helpers helpers);
  void run_shared(Job& job);
  bool work_on_one(Job& job) noexcept;
  void publish(Job& job, WakeBackoff::Clock::time_point now);
  void start_helpers(int wanted);
  void move_helpers(int processor, WakeBackoff::Clock::time_point now);
  void retire(Job& job, WakeBackoff::Duration expected);
  void help_forever();
  Job* join_a_job();

  WakeBackoff trust_;
  std::atomic<int> workers_{1};
  std::atomic<std::uint64_t> settings_version_{0};  // config::version() at which workers_ was read
  std::atomic<std::uint32_t> published_{0};         // counts jobs; idle helpers watch it
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable left_;
  std::vector<Job*> jobs_;
  std::vector<Helper> helpers_;
  int caller_processor_ = -1;  // which helpers avoid
  WakeBackoff::Clock::time_point next_move_{};
  int threads_ = 0;   // helpers started
  int sleeping_ = 0;  // helpers waiting on wake_ that have not been notified
};

}  // namespace spanwise::cpu_backend
