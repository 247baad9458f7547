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

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace spanwise::cpu_backend {

/// The floating-point state of a thread: rounding mode, flushing of subnormal numbers to zero,
/// trapped exceptions. A program sets it for its own threads (fesetround,
/// torch.set_flush_denormal); a worker thread applies the state of the thread whose job it runs.
/// Exception flags that are already raised are not part of it.
class FloatState {
 public:
  /// The calling thread's.
  static FloatState current() noexcept {
    FloatState state;
#if defined(__x86_64__)
    state.mxcsr_ = _mm_getcsr() & ~exception_flags;
    asm volatile("fnstcw %0" : "=m"(state.x87_));
#elif defined(__aarch64__)
    asm volatile("mrs %0, fpcr" : "=r"(state.fpcr_));
#endif
    return state;
  }
  /// Sets the calling thread's state if it differs.
  void apply() const noexcept {
    const FloatState now = current();
#if defined(__x86_64__)
    if (now.mxcsr_ != mxcsr_) _mm_setcsr(mxcsr_);
    if (now.x87_ != x87_) asm volatile("fldcw %0" ::"m"(x87_));
#elif defined(__aarch64__)
    if (now.fpcr_ != fpcr_) asm volatile("msr fpcr, %0" ::"r"(fpcr_));
#endif
  }

 private:
#if defined(__x86_64__)
  // The exception flags of MXCSR (Intel SDM volume 1, 10.2.3).
  static constexpr std::uint32_t exception_flags = 0x3f;
  std::uint32_t mxcsr_ = 0;
  std::uint16_t x87_ = 0;  // the x87 control word
#elif defined(__aarch64__)
  std::uint64_t fpcr_ = 0;
#endif
};

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
