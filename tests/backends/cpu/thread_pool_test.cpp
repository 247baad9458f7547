// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/thread_pool.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "backends/cpu/cpu_kernels.hpp"
#include "backends/cpu/processor.hpp"

namespace spanwise::cpu_backend {
namespace {

TEST(ThreadPool, RunsEachChunkOnce) {
  const test::SettingGuard threads("cpu_threads", "4");
  for (const Helpers helpers : {Helpers::at_once, Helpers::when_worth_it}) {
    for (const std::uint64_t chunks : {0u, 1u, 2u, 1000u}) {
      std::vector<std::atomic<int>> runs(chunks);
      ThreadPool::instance().run(chunks, helpers, [&](std::uint64_t chunk) { ++runs[chunk]; });
      for (const auto& count : runs) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ThreadPool, UsesHelpersWhereTheWorkIsLong) {
  const test::SettingGuard threads("cpu_threads", "2");
  std::mutex mutex;
  std::set<std::thread::id> seen;
  ThreadPool::instance().run(20, Helpers::when_worth_it, [&](std::uint64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(seen.size(), 2u);
}

TEST(ThreadPool, SchedulesChunksInAscendingOrder) {
  const test::SettingGuard threads("cpu_threads", "1");
  std::vector<std::uint64_t> order;
  ThreadPool::instance().run(50, Helpers::at_once,
                             [&](std::uint64_t chunk) { order.push_back(chunk); });
  for (std::uint64_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i);
}

TEST(ThreadPool, CarriesTheFirstErrorToTheCallerAndStops) {
  for (const char* threads : {"1", "3"}) {
    const test::SettingGuard setting("cpu_threads", threads);
    std::atomic<int> runs{0};
    const auto work = [&](std::uint64_t chunk) {
      ++runs;
      if (chunk == 3) throw std::runtime_error("chunk 3");
      std::this_thread::yield();
    };
    EXPECT_THROW(ThreadPool::instance().run(100000, Helpers::at_once, work), std::runtime_error);
    EXPECT_LT(runs, 100000);
    std::atomic<int> after{0};
    ThreadPool::instance().run(100, Helpers::at_once, [&](std::uint64_t) { ++after; });
    EXPECT_EQ(after, 100);
  }
}

TEST(ThreadPool, ServesSeveralCallersAndJobsWithinJobs) {
  const test::SettingGuard setting("cpu_threads", "3");
  std::atomic<long> sum{0};
  std::vector<std::thread> callers;
  for (int n = 0; n < 4; ++n) {
    callers.emplace_back([&] {
      for (int round = 0; round < 30; ++round) {
        ThreadPool::instance().run(8, Helpers::at_once, [&](std::uint64_t) {
          ThreadPool::instance().run(8, Helpers::at_once,
                                     [&](std::uint64_t chunk) { sum += static_cast<long>(chunk); });
        });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 30 * 8 * 28);
}

// The rounding mode and the flushing of subnormal numbers are states of a thread; a helper still
// has those of its previous job.
TEST(ThreadPool, ComputesWithTheFloatingPointStateOfTheCaller) {
  const test::SettingGuard threads("cpu_threads", "4");
  constexpr std::uint64_t chunks = 40;
  std::vector<double> thirds(chunks);
  std::set<std::thread::id> seen;
  std::mutex mutex;
  const auto run = [&] {
    seen.clear();
    ThreadPool::instance().run(chunks, Helpers::at_once, [&](std::uint64_t chunk) {
      const volatile double one = 1, three = 3;
      thirds[chunk] = one / three;
      std::this_thread::sleep_for(std::chrono::microseconds(300));
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
    EXPECT_GT(seen.size(), 1u) << "no helper took part";
  };
  const volatile double one = 1, three = 3;
  run();
  for (const double third : thirds) EXPECT_EQ(third, one / three);
  const int before = std::fegetround();
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}) {
    std::fesetround(mode);
    const double expected = one / three;
    run();
    std::fesetround(before);
    for (const double third : thirds) EXPECT_EQ(third, expected) << mode;
  }
}

TEST(ThreadPool, WorksInAForkedChild) {
  const test::SettingGuard setting("cpu_threads", "2");
  std::atomic<int> runs{0};
  const auto work = [&](std::uint64_t) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    ++runs;
  };
  ThreadPool::instance().run(50, Helpers::at_once, work);
  const pid_t child = ::fork();
  if (child == 0) {
    runs = 0;
    ThreadPool::instance().run(50, Helpers::at_once, work);
    ::_exit(runs == 50 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ThreadPool::instance().run(50, Helpers::at_once, work);
  EXPECT_EQ(runs, 100);
}

using std::chrono::microseconds, std::chrono::milliseconds;

constexpr microseconds base_threshold(8);

TEST(WakeBackoff, RaisesTheThresholdAfterEachDelay) {
  WakeBackoff backoff;
  const WakeBackoff::Clock::time_point now{std::chrono::hours(1)};
  EXPECT_EQ(backoff.min_work(now, base_threshold), base_threshold);
  backoff.record(now, microseconds(300), microseconds(100));            // waited for a helper
  EXPECT_EQ(backoff.min_work(now, base_threshold), microseconds(600));  // twice the time
  backoff.record(now, microseconds(500), microseconds(250));
  EXPECT_EQ(backoff.min_work(now, base_threshold), microseconds(1200));  // twice the threshold
  for (int i = 0; i < 20; ++i) backoff.record(now, milliseconds(30), milliseconds(20));
  EXPECT_EQ(backoff.min_work(now, base_threshold), milliseconds(8));
}

TEST(WakeBackoff, EndsAfterAMultipleOfTheLostTime) {
  WakeBackoff backoff;
  const WakeBackoff::Clock::time_point now{std::chrono::hours(1)};
  backoff.record(now, microseconds(300), microseconds(100));
  // 16 times the lost 200 us.
  EXPECT_EQ(backoff.min_work(now + microseconds(3199), base_threshold), microseconds(600));
  EXPECT_EQ(backoff.min_work(now + microseconds(3200), base_threshold), base_threshold);
  backoff.record(now, microseconds(400), microseconds(100));
  // And 16 times 300 us.
  EXPECT_EQ(backoff.min_work(now + microseconds(7999), base_threshold), microseconds(1200));
  EXPECT_EQ(backoff.min_work(now + microseconds(8000), base_threshold), base_threshold);
}

TEST(WakeBackoff, EndsWithASuccess) {
  WakeBackoff backoff;
  const WakeBackoff::Clock::time_point now{std::chrono::hours(1)};
  backoff.record(now, microseconds(300), microseconds(100));
  backoff.record(now, microseconds(95), microseconds(100));  // neither a gain nor a loss
  EXPECT_EQ(backoff.min_work(now, base_threshold), microseconds(600));
  backoff.record(now, microseconds(60), microseconds(100));
  EXPECT_EQ(backoff.min_work(now, base_threshold), base_threshold);
}

TEST(WakeBackoff, AllowsTimeToWakeSleepingThreads) {
  WakeBackoff backoff;
  const WakeBackoff::Clock::time_point start{std::chrono::hours(1)};
  const auto delayed_job = [&](microseconds began) {
    backoff.record(start + began + microseconds(33), microseconds(33), microseconds(28));
  };
  backoff.note_wake(start);
  for (const int began : {0, 40, 80, 120, 160}) delayed_job(microseconds(began));
  EXPECT_EQ(backoff.min_work(start, base_threshold), base_threshold)
      << "the delays are within the time to wake";
  delayed_job(microseconds(200));
  EXPECT_EQ(backoff.min_work(start, base_threshold), microseconds(66))
      << "the helper has had time to wake";
}

TEST(WakeBackoff, RaisesTheThresholdAfterFourUselessWakes) {
  WakeBackoff backoff;
  const WakeBackoff::Clock::time_point now{std::chrono::hours(1)};
  for (int i = 0; i < 100; ++i) backoff.record(now, microseconds(101), microseconds(100));
  EXPECT_EQ(backoff.min_work(now, base_threshold), base_threshold);
  const auto useless_wake = [&] {
    backoff.note_wake(now);
    backoff.record(now + microseconds(101), microseconds(101), microseconds(100));
  };
  for (int i = 0; i < 3; ++i) useless_wake();
  EXPECT_EQ(backoff.min_work(now, base_threshold), base_threshold);
  backoff.record(now, microseconds(60), microseconds(100));  // helped
  for (int i = 0; i < 3; ++i) useless_wake();
  EXPECT_EQ(backoff.min_work(now, base_threshold), base_threshold);
  useless_wake();
  EXPECT_EQ(backoff.min_work(now + milliseconds(20), base_threshold), microseconds(202));
  EXPECT_EQ(backoff.min_work(now + milliseconds(21), base_threshold), base_threshold);
}

TEST(WakeBackoff, CountsALateChunkOfASleepingThread) {
  WakeBackoff backoff;
  const WakeBackoff::Clock::time_point now{std::chrono::hours(1)};
  backoff.note_wake(now);
  backoff.record(now + milliseconds(3), milliseconds(3), microseconds(100));
  EXPECT_EQ(backoff.min_work(now, base_threshold), milliseconds(6));
}

TEST(ThreadPool, HelpersLeaveTheProcessorOfTheCaller) {
  const test::SettingGuard threads("cpu_threads", "2");
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one processor";
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<std::size_t> processor{0};
  std::atomic<int> on_caller{0}, elsewhere{0};  // helpers that may run on its processor, or not
  const auto run = [&] {
    ThreadPool::instance().run(6, Helpers::at_once, [&](std::uint64_t) {
      std::this_thread::sleep_for(milliseconds(1));
      cpu_set_t allowed;
      if (std::this_thread::get_id() == caller) return;
      ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
      ++(CPU_ISSET(processor.load(), &allowed) ? on_caller : elsewhere);
    });
  };
  run();  // starts the helper
  std::vector<std::size_t> processors;
  for (std::size_t i = 0; processors.size() < 2; ++i)
    if (CPU_ISSET(i, &all)) processors.push_back(i);
  for (const std::size_t next : {processors[0], processors[1], processors[0]}) {
    processor = next;
    on_caller = elsewhere = 0;
    cpu_set_t single;
    CPU_ZERO(&single);
    CPU_SET(next, &single);
    ASSERT_EQ(::sched_setaffinity(0, sizeof single, &single), 0);
    for (int i = 0; i < 200 && elsewhere == 0; ++i) {
      std::this_thread::sleep_for(milliseconds(5));  // the helper blocks
      run();
    }
    EXPECT_EQ(::sched_setaffinity(0, sizeof all, &all), 0);
    EXPECT_GT(elsewhere, 0);
    EXPECT_EQ(on_caller, 0);
  }
}

TEST(ThreadPool, FollowsTheSetting) {
  const test::SettingGuard setting("cpu_threads", "3");
  EXPECT_EQ(ThreadPool::instance().workers(), 3);
  {
    const test::EnvironmentVariable threads("OMP_NUM_THREADS", " 5,2");
    config::set("cpu_threads", "0");
    EXPECT_EQ(ThreadPool::instance().workers(), 5);
  }
  for (const char* value : {"", "many", "-2", "0"}) {
    const test::EnvironmentVariable threads("OMP_NUM_THREADS", value);
    config::set("cpu_threads", "0");
    EXPECT_EQ(ThreadPool::instance().workers(), processor_count()) << value;
  }
  EXPECT_THROW(config::set("cpu_threads", "many"), ArgumentError);
  EXPECT_THROW(config::set("cpu_threads", "-1"), ArgumentError);
}

}  // namespace
}  // namespace spanwise::cpu_backend
