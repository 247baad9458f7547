// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/thread_pool.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>

#include "backends/cpu/cpu_settings.hpp"
#include "backends/cpu/exec/fault_trap.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/interrupt.hpp"

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

namespace {

using Clock = WakeBackoff::Clock;

// Minimum remaining work for which helpers are woken.
constexpr auto min_shared_work = std::chrono::microseconds(8);
// Iterations for which idle helpers spin before they block: about 80 us, so that they are awake for
// the next job of a program that calls one operation after the other.
constexpr int idle_spins = 5000;
// Time after which a helper that holds no chunk yields to other threads of its processor, so that
// its time slice does not end within a chunk, for which the caller would wait.
constexpr auto min_slice = std::chrono::microseconds(500);
// A caller waits for the last chunks of its helpers by spinning for at most this time, then it
// blocks, which leaves its processor to a helper that has none.
constexpr auto max_spin_time = std::chrono::microseconds(80),
               min_spin_time = std::chrono::microseconds(10);
// Minimum time between moves of helpers to other processors, each of which is a system call.
constexpr auto min_stay = std::chrono::milliseconds(1);

std::atomic<ThreadPool*> shared_pool{nullptr};

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Forbids a thread to run on `processor`, unless that is the only one it may use, and allows the
// one that it `avoided` before. The system often wakes a helper on the processor of its caller,
// where it waits until the caller has done the work.
void avoid_processor(pid_t thread, int processor, int& avoided) noexcept {
  cpu_set_t allowed;
  if (processor < 0 || processor == avoided ||
      ::sched_getaffinity(thread, sizeof allowed, &allowed) != 0)
    return;
  if (avoided >= 0) CPU_SET(static_cast<std::size_t>(avoided), &allowed);
  CPU_CLR(static_cast<std::size_t>(processor), &allowed);
  if (CPU_COUNT(&allowed) > 0 && ::sched_setaffinity(thread, sizeof allowed, &allowed) == 0)
    avoided = processor;
}

}  // namespace

ThreadPool& ThreadPool::instance() {
  ThreadPool* pool = shared_pool.load(std::memory_order_acquire);
  if (pool != nullptr) return *pool;
  static NeverDestroyed<Mutex> creating;
  const std::lock_guard lock(*creating);
  if (pool = shared_pool.load(std::memory_order_acquire); pool != nullptr) return *pool;
  // Threads do not survive a fork: the child abandons the parent's pool, whose mutex may be locked,
  // and creates its own.
  struct PoolForkHandler final : ForkParticipant {
    void after_fork_in_child(bool) noexcept override { shared_pool.store(nullptr); }
  };
  [[maybe_unused]] static NeverDestroyed<PoolForkHandler> fork_handler;
  pool = new ThreadPool;
  shared_pool.store(pool, std::memory_order_release);
  return *pool;
}

int ThreadPool::workers() {
  const std::uint64_t version = config::version();
  if (settings_version_.load(std::memory_order_relaxed) != version) {
    workers_.store(worker_setting(), std::memory_order_relaxed);
    settings_version_.store(version, std::memory_order_relaxed);
  }
  return workers_.load(std::memory_order_relaxed);
}

// Runs the next chunk; returns false if there is none left.
bool ThreadPool::try_run_chunk(Job& job) noexcept {
  const std::uint64_t chunk = job.next.fetch_add(1, std::memory_order_relaxed);
  if (chunk >= job.chunks) return false;
  try {
    job.call(job.context, chunk);
  } catch (...) {
    job.next.store(job.chunks, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    if (!job.error) job.error = std::current_exception();
  }
  return true;
}

void ThreadPool::run(Job& job, Helpers wake) {
  if (is_worth_sharing(job, wake)) {
    run_shared(job);
  } else {
    while (try_run_chunk(job)) {
    }
  }
  if (job.error) std::rethrow_exception(job.error);
}

// Unless helpers are woken at once, runs the first chunk, whose time predicts that of the others.
bool ThreadPool::is_worth_sharing(Job& job, Helpers wake) {
  if (job.chunks < 2 || workers() < 2) return false;
  const auto start = Clock::now();
  const WakeBackoff::Duration none(0),
      base_threshold = wake == Helpers::at_once ? none : WakeBackoff::Duration(min_shared_work);
  if (backoff_.min_work(start, base_threshold) == none) return true;
  try_run_chunk(job);
  if (job.next.load(std::memory_order_relaxed) + 2 > job.chunks) return false;
  const auto now = Clock::now();
  return (now - start) * static_cast<std::int64_t>(job.chunks - 1) >
         backoff_.min_work(now, base_threshold);
}

void ThreadPool::run_shared(Job& job) {
  const std::uint64_t first = job.next.load(std::memory_order_relaxed);
  const auto start = Clock::now();
  publish(job, start);
  std::int64_t own_chunks = 0;
  while (try_run_chunk(job)) ++own_chunks;
  const auto worked = Clock::now() - start;
  retire(job, own_chunks == 0 ? worked : 2 * worked / own_chunks);
  if (own_chunks == 0) return;
  const auto now = Clock::now();
  const auto alone = worked / own_chunks * static_cast<std::int64_t>(job.chunks - first);
  backoff_.record(now, now - start, alone);
}

void ThreadPool::publish(Job& job, Clock::time_point now) {
  const int max_helpers = workers() - 1;
  job.float_state = FloatState::current();
  const std::lock_guard lock(mutex_);
  move_helpers(::sched_getcpu(), now);
  bool wakes = started_ < max_helpers;
  start_helpers(max_helpers);
  jobs_.push_back(&job);
  job.max_helpers = max_helpers;
  published_.fetch_add(1, std::memory_order_release);
  if (sleeping_ > 0) {
    sleeping_ = 0;
    wakes = true;
    published_changed_.notify_all();
  }
  if (wakes) backoff_.note_wake(now);
}

// Makes helpers avoid `processor`, on which the caller runs; they may be there because they avoid
// the caller's former processor.
void ThreadPool::move_helpers(int processor, Clock::time_point now) {
  if (processor == caller_processor_ || now < next_move_) return;
  caller_processor_ = processor;
  next_move_ = now + min_stay;
  for (Helper& helper : helpers_) avoid_processor(helper.thread, processor, helper.avoided);
}

void ThreadPool::start_helpers(int count) {
  try {
    for (; started_ < count; ++started_) std::thread([this] { help_forever(); }).detach();
  } catch (const std::system_error&) {
    // The system has no more threads; continue with those that exist.
    return;
  }
}

// Removes the job, and waits until no helper uses it, which should take no longer than `expected`.
void ThreadPool::retire(Job& job, WakeBackoff::Duration expected) {
  {
    const std::lock_guard lock(mutex_);
    std::erase(jobs_, &job);
  }
  const auto spin_time = std::clamp<WakeBackoff::Duration>(expected, min_spin_time, max_spin_time);
  const auto is_used = [&] { return job.active_helpers.load(std::memory_order_acquire) > 0; };
  for (const auto start = Clock::now(); is_used() && Clock::now() - start < spin_time;)
    for (int i = 0; i < 10 && is_used(); ++i) pause();
  std::unique_lock lock(mutex_);
  const auto is_free = [&] { return job.active_helpers.load(std::memory_order_relaxed) == 0; };
  // A kernel that helpers run may never end; Ctrl-C makes them leave it.
  bool was_interrupted = false;
  while (!job_left_.wait_for(lock, std::chrono::milliseconds(interrupt_check_ms), is_free)) {
    lock.unlock();
    if (FaultTrap& trap = FaultTrap::current(); trap.has_helpers()) {
      try {
        if (!was_interrupted) check_interrupt();
      } catch (...) {
        was_interrupted = true;
        job.next.store(job.chunks, std::memory_order_relaxed);
        const std::lock_guard error_lock(mutex_);
        job.error = std::current_exception();
      }
      if (was_interrupted) trap.stop_helpers();
    }
    lock.lock();
  }
}

// The job that the calling helper has joined, null if none needs a helper. The mutex must be held.
ThreadPool::Job* ThreadPool::join_job() {
  for (Job* job : jobs_) {
    const int helpers = job->active_helpers.load(std::memory_order_relaxed);
    if (!job->has_chunks() || helpers >= job->max_helpers) continue;
    job->active_helpers.store(helpers + 1, std::memory_order_relaxed);
    return job;
  }
  return nullptr;
}

void ThreadPool::help_forever() {
  std::unique_lock lock(mutex_);
  helpers_.push_back({static_cast<pid_t>(::syscall(SYS_gettid))});
  avoid_processor(helpers_.back().thread, caller_processor_, helpers_.back().avoided);
  auto slice = Clock::now() + min_slice;
  for (;;) {
    if (Clock::now() > slice) {
      lock.unlock();
      std::this_thread::yield();
      slice = Clock::now() + min_slice;
      lock.lock();
    }
    const std::uint32_t seen = published_.load(std::memory_order_acquire);
    if (Job* job = join_job(); job != nullptr) {
      lock.unlock();
      job->float_state.apply();
      while (try_run_chunk(*job) && Clock::now() < slice) {
      }
      lock.lock();
      const int others = job->active_helpers.load(std::memory_order_relaxed) - 1;
      job->active_helpers.store(others, std::memory_order_release);  // the job may be destroyed now
      if (others == 0) job_left_.notify_all();
      continue;
    }
    lock.unlock();
    for (int i = 0; i < idle_spins && published_.load(std::memory_order_acquire) == seen; ++i)
      pause();
    lock.lock();
    if (published_.load(std::memory_order_acquire) != seen) continue;
    ++sleeping_;
    published_changed_.wait(lock,
                            [&] { return published_.load(std::memory_order_acquire) != seen; });
    slice = Clock::now() + min_slice;
  }
}

}  // namespace spanwise::cpu_backend
