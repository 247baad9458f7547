// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/core/fork.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "spanwise/core/storage.hpp"
#include "support/fake_stream.hpp"

namespace spanwise {
namespace {

/// Whether `work` returns true in a child process; a child that hangs is ended by a signal.
template <class Work>
bool holds_in_child(Work&& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    // Not _exit(), at which ThreadSanitizer reports the parent's threads as leaked.
    ::syscall(SYS_exit_group, work() ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool can_lock(Mutex& mutex) {
  const std::lock_guard lock(mutex);
  return true;
}

TEST(Fork, MutexOfAnotherThreadIsFreeAndItsDataConsistentInTheChild) {
  Mutex mutex;
  int first = 0, second = 0;  // equal outside the mutex
  std::atomic<bool> goes_on{true};
  std::thread other([&] {
    while (goes_on) {
      const std::lock_guard lock(mutex);
      ++first;
      std::this_thread::yield();
      ++second;
    }
  });
  for (int i = 0; i < 50; ++i)
    EXPECT_TRUE(holds_in_child([&] { return can_lock(mutex) && first == second; }));
  goes_on = false;
  other.join();
  EXPECT_TRUE(can_lock(mutex));
}

TEST(Fork, AMutexThatIsNeverReleasedIsFreeInTheChildAndLockedInTheParent) {
  Mutex mutex;
  std::promise<void> locked, finish;
  std::thread other([&] {
    const std::lock_guard lock(mutex);
    locked.set_value();
    finish.get_future().wait();
  });
  locked.get_future().wait();
  EXPECT_TRUE(holds_in_child([&] { return can_lock(mutex); }));
  EXPECT_FALSE(mutex.try_lock());
  finish.set_value();
  other.join();
  EXPECT_TRUE(can_lock(mutex));
}

int& slowly_initialised(std::promise<void>& started, std::shared_future<void> finish) {
  static int value = [&] {
    started.set_value();
    finish.wait_for(std::chrono::milliseconds(500));
    return 7;
  }();
  return value;
}

TEST(Fork, AChildForkedDuringTheInitialiserOfAStaticVariableCanUseTheVariable) {
  std::promise<void> started, finish;
  const std::shared_future<void> finished = finish.get_future().share();
  std::thread other([&] { slowly_initialised(started, finished); });
  started.get_future().wait();
  EXPECT_TRUE(holds_in_child([&] { return slowly_initialised(started, finished) == 7; }));
  other.join();
  EXPECT_EQ(slowly_initialised(started, finished), 7);
}

int& initialised_at_the_second_attempt(int& attempts) {
  static int value = ++attempts < 2 ? throw std::runtime_error("first attempt") : attempts;
  return value;
}

TEST(Fork, StaticVariableWithAThrowingInitialiserIsRetried) {
  int attempts = 0;
  EXPECT_THROW(initialised_at_the_second_attempt(attempts), std::runtime_error);
  EXPECT_EQ(initialised_at_the_second_attempt(attempts), 2);
  EXPECT_EQ(initialised_at_the_second_attempt(attempts), 2);
}

TEST(Fork, ThreadsThatTakeTwoMutexesInAnyOrderDoNotStopAFork) {
  Mutex one, two;
  std::atomic<bool> goes_on{true};
  std::thread other([&] {
    while (goes_on) {
      const std::scoped_lock both(one, two);
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 50; ++i)
    EXPECT_TRUE(holds_in_child([&] { return can_lock(one) && can_lock(two); }));
  goes_on = false;
  other.join();
}

class Counting final : ForkParticipant {
 public:
  int paused = 0, resumed = 0, in_child = 0;

 private:
  bool try_pause() noexcept override { return ++paused > 0; }
  void resume() noexcept override { ++resumed; }
  void after_fork_in_child(bool was_paused) noexcept override { in_child += was_paused; }
};

TEST(Fork, ParticipantIsPausedAndThenResumedOrNotifiedInTheChild) {
  Counting counting;
  const std::uint32_t generation = process_generation();
  EXPECT_TRUE(holds_in_child([&] {
    return counting.in_child == 1 && counting.paused == counting.resumed + 1 &&
           process_generation() == generation + 1;
  }));
  EXPECT_EQ(process_generation(), generation);
  EXPECT_GE(counting.paused, 1);
  EXPECT_EQ(counting.paused, counting.resumed);
  EXPECT_EQ(counting.in_child, 0);
}

TEST(Fork, StreamUsesThatAnotherThreadChangesCanBeUsedInTheChild) {
  StreamUses uses;
  const auto a = make_ref<test::FakeStream>(), b = make_ref<test::FakeStream>();
  std::atomic<bool> goes_on{true};
  std::thread other([&] {
    while (goes_on) {
      uses.record(*a, true);
      uses.record(*b, true);
    }
  });
  for (int i = 0; i < 200; ++i)
    EXPECT_TRUE(holds_in_child([&] {
      uses.record(*a, true);
      return true;
    }));
  goes_on = false;
  other.join();
}

}  // namespace
}  // namespace spanwise
