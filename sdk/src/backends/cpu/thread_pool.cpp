// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/thread_pool.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>

#include "backends/cpu/exec/fault_trap.hpp"
#include "backends/cpu/settings.hpp"
#include "spanwise/config.hpp"
#include "spanwise/fork.hpp"
#include "spanwise/runtime/interrupt.hpp"

namespace spanwise::cpu_backend {
namespace {

using Clock = WakeBackoff::Clock;

// Least remaining work for which waking helpers is worthwhile.
constexpr auto worth_waking = std::chrono::microseconds(8);
// Upper bound of the back-off, in nanoseconds.
constexpr std::int64_t most_backoff = 8'000'000;
// Half-life of the back-off, in nanoseconds. Failed attempts, in which an interrupted helper may
// delay a short job by milliseconds, then cost a few percent of the time at most.
constexpr std::int64_t half_life = 20'000'000;
// Delay in nanoseconds, and number of jobs in a row, by which helpers that were just woken may be
// late before it counts as a failure.
constexpr std::int64_t time_to_wake = 200'000;
constexpr int most_wakes = 3;
// Iterations for which idle helpers, and callers whose helpers finish, spin before they block:
// about 80 us, for programs that call one operation after the other.
constexpr int spins = 5000;

std::atomic<ThreadPool*> shared_pool{nullptr};

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

WakeBackoff::Duration WakeBackoff::least_work(Clock::time_point now,
                                              Duration usual) const noexcept {
  const std::int64_t least = least_.load(std::memory_order_relaxed);
  if (least == 0) return usual;
  const std::int64_t age =
      Duration(now.time_since_epoch()).count() - learned_.load(std::memory_order_relaxed);
  const std::int64_t halvings = std::clamp<std::int64_t>(age / half_life, 0, 62);
  return std::max(usual, Duration(least >> halvings));
}

bool WakeBackoff::is_over(Clock::time_point now) const noexcept {
  return least_work(now, Duration(0)) < worth_waking;
}

void WakeBackoff::note_wake(Clock::time_point now) noexcept {
  woken_.store(Duration(now.time_since_epoch()).count(), std::memory_order_relaxed);
  wakes_.fetch_add(1, std::memory_order_relaxed);
}

void WakeBackoff::learn(Clock::time_point now, Duration took, Duration alone) noexcept {
  const bool helped = took * 5 < alone * 4;
  const int wakes = wakes_.load(std::memory_order_relaxed);
  if (!helped && took <= alone) return;
  if (!helped && wakes > 0 && wakes <= most_wakes) {
    const Duration began = now.time_since_epoch() - took;
    const std::int64_t awake = began.count() - woken_.load(std::memory_order_relaxed);
    if (awake < time_to_wake && took < alone + Duration(time_to_wake)) return;
  }
  // Helpers that are tried again after a back-off are asleep again, so the count restarts.
  if (wakes != 0) wakes_.store(0, std::memory_order_relaxed);
  if (helped && is_full()) return;
  // Of two concurrent updates one may be lost; later jobs correct that.
  const std::int64_t before = least_work(now, Duration(0)).count();
  std::int64_t least = before / 2;
  if (!helped) least = std::min(most_backoff, 2 * std::max(before, took.count()));
  if (helped && Duration(least) < worth_waking) least = 0;
  learned_.store(Duration(now.time_since_epoch()).count(), std::memory_order_relaxed);
  least_.store(least, std::memory_order_relaxed);
}

ThreadPool& ThreadPool::instance() {
  ThreadPool* pool = shared_pool.load(std::memory_order_acquire);
  if (pool != nullptr) return *pool;
  static auto& creating = *new Mutex;
  const std::lock_guard lock(creating);
  if (pool = shared_pool.load(std::memory_order_acquire); pool != nullptr) return *pool;
  // Threads do not survive a fork: the child abandons the parent's pool, whose mutex may be locked,
  // and creates its own.
  struct Forgetting final : ForkParticipant {
    void after_fork_in_child(bool) noexcept override { shared_pool.store(nullptr); }
  };
  static auto& forgetting = *new Forgetting;
  static_cast<void>(forgetting);
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

// Runs one chunk; returns false if there was none left.
bool ThreadPool::work_on_one(Job& job) noexcept {
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

void ThreadPool::run(Job& job, Helpers helpers) {
  if (is_worth_sharing(job, helpers)) {
    run_shared(job);
  } else {
    while (work_on_one(job)) {
    }
  }
  if (job.error) std::rethrow_exception(job.error);
}

// Unless helpers are woken at once, the time of the first chunk predicts that of the others, of
// which the caller takes the next.
bool ThreadPool::is_worth_sharing(Job& job, Helpers helpers) {
  if (job.chunks < 2 || workers() < 2) return false;
  if (helpers == Helpers::at_once && backoff_.is_full()) return true;
  const auto start = Clock::now();
  if (helpers == Helpers::at_once && backoff_.is_over(start)) return true;
  work_on_one(job);
  if (job.next.load(std::memory_order_relaxed) + 1 >= job.chunks) return false;
  const auto now = Clock::now();
  const WakeBackoff::Duration usual =
      helpers == Helpers::at_once ? WakeBackoff::Duration(0) : WakeBackoff::Duration(worth_waking);
  return (now - start) * static_cast<std::int64_t>(job.chunks - 1) >
         backoff_.least_work(now, usual);
}

void ThreadPool::run_shared(Job& job) {
  const std::uint64_t first = job.next.load(std::memory_order_relaxed);
  const auto start = Clock::now();
  publish(job, start);
  std::int64_t own = 0;
  while (work_on_one(job)) ++own;
  const auto worked = Clock::now() - start;
  retire(job);
  if (own == 0) return;
  const auto now = Clock::now();
  const auto alone = worked / own * static_cast<std::int64_t>(job.chunks - first);
  backoff_.learn(now, now - start, alone);
}

void ThreadPool::publish(Job& job, Clock::time_point now) {
  const int wanted = workers() - 1;
  job.floats = FloatState::current();
  const std::lock_guard lock(mutex_);
  bool wakes = threads_ < wanted;
  start_helpers(wanted);
  jobs_.push_back(&job);
  job.most_helpers = wanted;
  published_.fetch_add(1, std::memory_order_release);
  if (sleeping_ > 0) {
    sleeping_ = 0;
    wakes = true;
    wake_.notify_all();
  }
  if (wakes) backoff_.note_wake(now);
}

void ThreadPool::start_helpers(int wanted) {
  try {
    for (; threads_ < wanted; ++threads_) std::thread([this] { help_forever(); }).detach();
  } catch (const std::system_error&) {
    // The system has no more threads; continue with those that exist.
    return;
  }
}

// Removes the job, and waits until no helper uses it.
void ThreadPool::retire(Job& job) {
  {
    const std::lock_guard lock(mutex_);
    std::erase(jobs_, &job);
  }
  for (int i = 0; i < spins && job.helpers.load(std::memory_order_acquire) > 0; ++i) pause();
  std::unique_lock lock(mutex_);
  const auto is_free = [&] { return job.helpers.load(std::memory_order_relaxed) == 0; };
  // Helpers that run a kernel may loop forever; Ctrl-C makes them leave it.
  bool was_interrupted = false;
  while (!left_.wait_for(lock, std::chrono::milliseconds(interrupt_check_ms), is_free)) {
    lock.unlock();
    if (FaultTrap& trap = FaultTrap::current(); trap.has_helpers()) {
      try {
        if (!was_interrupted) check_interrupt();
      } catch (...) {
        was_interrupted = true;
        job.next.store(job.chunks, std::memory_order_relaxed);
        const std::lock_guard again(mutex_);
        job.error = std::current_exception();
      }
      if (was_interrupted) trap.stop_helpers();
    }
    lock.lock();
  }
}

ThreadPool::Job* ThreadPool::join_a_job() {
  for (Job* job : jobs_) {
    const int helpers = job->helpers.load(std::memory_order_relaxed);
    if (!job->has_chunks() || helpers >= job->most_helpers) continue;
    job->helpers.store(helpers + 1, std::memory_order_relaxed);
    return job;
  }
  return nullptr;
}

void ThreadPool::help_forever() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const std::uint32_t seen = published_.load(std::memory_order_acquire);
    if (Job* job = join_a_job(); job != nullptr) {
      lock.unlock();
      job->floats.apply();
      while (work_on_one(*job)) {
      }
      lock.lock();
      const int others = job->helpers.load(std::memory_order_relaxed) - 1;
      job->helpers.store(others, std::memory_order_release);  // the job may be destroyed now
      if (others == 0) left_.notify_all();
      continue;
    }
    lock.unlock();
    for (int i = 0; i < spins && published_.load(std::memory_order_acquire) == seen; ++i) pause();
    lock.lock();
    if (published_.load(std::memory_order_acquire) != seen) continue;
    ++sleeping_;
    wake_.wait(lock, [&] { return published_.load(std::memory_order_acquire) != seen; });
  }
}

}  // namespace spanwise::cpu_backend
