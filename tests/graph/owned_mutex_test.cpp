// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/owned_mutex.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <barrier>
#include <future>
#include <thread>
#include <vector>

#include "support/graph_ops.hpp"

#if defined(__SANITIZE_THREAD__)
// Locking in a circle is refused at run time, which the sanitizer cannot know.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() {
  return "deadlock:OwnedMutex";
}
#endif

namespace spanwise::graph {
namespace {

using ::testing::HasSubstr;

TEST(OwnedMutex, IsRefusedToItsOwner) {
  OwnedMutex mutex;
  EXPECT_TRUE(mutex.lock());
  EXPECT_TRUE(mutex.is_mine());
  EXPECT_FALSE(mutex.lock());
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock();
  EXPECT_FALSE(mutex.is_mine());
}

// The owner continues once the other thread has released the interpreter lock.
TEST(OwnedMutex, WaitingThreadReleasesTheInterpreterLock) {
  static std::promise<void>* lock_released = nullptr;
  static constexpr InterpreterLock held{[]() noexcept -> void* {
                                          lock_released->set_value();
                                          return lock_released;
                                        },
                                        [](void*) noexcept {}};
  static constexpr InterpreterLock not_held{[]() noexcept -> void* { return nullptr; },
                                            [](void*) noexcept {}};
  OwnedMutex mutex;
  std::promise<void> locked, released;
  lock_released = &released;
  std::thread owner([&] {
    ASSERT_TRUE(mutex.try_lock());
    locked.set_value();
    released.get_future().wait();
    mutex.unlock();
  });
  locked.get_future().wait();
  set_interpreter_lock(held);
  EXPECT_TRUE(mutex.lock());
  set_interpreter_lock(not_held);
  mutex.unlock();
  owner.join();
}

// Each of three threads holds one mutex and locks the next: exactly one lock throws, and the other
// threads end.
TEST(OwnedMutex, AWaitThatClosesACircleIsRefused) {
  constexpr std::size_t count = 3;
  for (int round = 0; round < 100; ++round) {
    std::array<OwnedMutex, count> mutexes;
    std::barrier all_hold_a_mutex(count);
    std::atomic<int> refused{0};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i)
      threads.emplace_back([&, i] {
        ASSERT_TRUE(mutexes[i].lock());
        all_hold_a_mutex.arrive_and_wait();
        OwnedMutex& next = mutexes[(i + 1) % count];
        if (next.lock())
          next.unlock();
        else
          ++refused;
        mutexes[i].unlock();
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(refused, 1);
  }
}

TEST(OwnedMutex, IsFreeInAForkedChildUnlessTheForkingThreadHasIt) {
  OwnedMutex of_other_thread, own;
  std::promise<void> locked, finish;
  std::thread other([&] {
    ASSERT_TRUE(of_other_thread.lock());
    locked.set_value();
    finish.get_future().wait();
    of_other_thread.unlock();
  });
  locked.get_future().wait();
  ASSERT_TRUE(own.lock());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(of_other_thread.try_lock() && own.is_mine() && !own.try_lock() ? 0 : 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_FALSE(of_other_thread.try_lock());
  finish.set_value();
  other.join();
  own.unlock();
}

// The op of each function calls the other function. Two threads call one function each, and both
// ops run before either makes its call.
TEST(OwnedMutex, CyclicCallsOfTwoFunctionsFailInsteadOfDeadlock) {
  const Variable x = test::input("x");
  std::barrier both_run(2);
  std::array<std::atomic<bool>, 2> has_run{};
  std::array<std::optional<CompiledFunction>, 2> functions;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto op = test::make_test_op("CallsOther", [&, i](const auto& in, const auto& out) {
      out[0]->value = *in[0]->value;
      if (has_run[i].exchange(true)) return;  // called by the other function, whose call failed
      both_run.arrive_and_wait();
      out[0]->value = (*functions[1 - i])({*in[0]->value})[0];
    });
    functions[i] = test::compile({x}, {test::apply(op, {x})});
  }
  std::array<std::string, 2> messages;
  const auto call = [&](std::size_t i) {
    try {
      (*functions[i])({test::vector_of({1})});
    } catch (const GraphError& error) {
      messages[i] = error.what();
    }
  };
  std::thread other([&] { call(1); });
  call(0);
  other.join();
  EXPECT_THAT(messages[0] + messages[1], HasSubstr("ops call each other"));
  EXPECT_TRUE(messages[0].empty() || messages[1].empty());
}

}  // namespace
}  // namespace spanwise::graph
