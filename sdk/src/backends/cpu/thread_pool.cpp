// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/thread_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>

#include "backends/cpu/settings.hpp"
#include "spanwise/config.hpp"

namespace spanwise::host {
namespace {

using Clock = std::chrono::steady_clock;

// Below this much remaining work the wake-up costs more than the help brings.
constexpr auto worth_waking = std::chrono::microseconds(8);
// How long idle helpers, and callers whose helpers finish, look before they sleep: about 30 us.
constexpr int spins = 2000;

std::atomic<ThreadPool*> shared_pool{nullptr};

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

ThreadPool& ThreadPool::instance() {
  ThreadPool* pool = shared_pool.load(std::memory_order_acquire);
  if (pool != nullptr) return *pool;
  static std::mutex creating;
  const std::lock_guard lock(creating);
  if (pool = shared_pool.load(std::memory_order_acquire); pool != nullptr) return *pool;
  // Threads do not survive a fork: the child forgets the parent's pool, with whatever state its
  // mutex was in, and makes its own.
  static const int once = pthread_atfork(nullptr, nullptr, [] { shared_pool.store(nullptr); });
  (void)once;
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

// True while there was a chunk to work on.
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
  bool shared = false;
  const int workers = this->workers();
  if (workers > 1 && job.chunks > 1) {
    if (helpers == Helpers::when_worth_it) {
      const auto start = Clock::now();
      work_on_one(job);
      const auto remaining = static_cast<double>(job.chunks - 1);
      shared = job.has_chunks() && (Clock::now() - start) * remaining > worth_waking;
    } else {
      shared = true;
    }
  }
  if (shared) publish(job);
  while (work_on_one(job)) {
  }
  if (shared) retire(job);
  if (job.error) std::rethrow_exception(job.error);
}

void ThreadPool::publish(Job& job) {
  const int wanted = workers() - 1;
  const std::lock_guard lock(mutex_);
  start_helpers(wanted);
  jobs_.push_back(&job);
  job.most_helpers = wanted;
  published_.fetch_add(1, std::memory_order_release);
  if (sleeping_ > 0) wake_.notify_all();
}

void ThreadPool::start_helpers(int wanted) {
  try {
    for (; threads_ < wanted; ++threads_) std::thread([this] { help_forever(); }).detach();
  } catch (const std::system_error&) {
    // The system has no more threads; those that there are do the work.
    return;
  }
}

// Returns when no helper looks at the job any more.
void ThreadPool::retire(Job& job) {
  {
    const std::lock_guard lock(mutex_);
    std::erase(jobs_, &job);
  }
  for (int i = 0; i < spins && job.helpers.load(std::memory_order_acquire) > 0; ++i) pause();
  std::unique_lock lock(mutex_);
  left_.wait(lock, [&] { return job.helpers.load(std::memory_order_relaxed) == 0; });
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
      while (work_on_one(*job)) {
      }
      lock.lock();
      const int others = job->helpers.load(std::memory_order_relaxed) - 1;
      job->helpers.store(others, std::memory_order_release);  // the last touch: the job may go now
      if (others == 0) left_.notify_all();
      continue;
    }
    lock.unlock();
    for (int i = 0; i < spins && published_.load(std::memory_order_acquire) == seen; ++i) pause();
    lock.lock();
    if (published_.load(std::memory_order_acquire) != seen) continue;
    ++sleeping_;
    wake_.wait(lock, [&] { return published_.load(std::memory_order_acquire) != seen; });
    --sleeping_;
  }
}

}  // namespace spanwise::host
