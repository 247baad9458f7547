// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The functions that compiled code calls around the initialiser of a function-local static variable
// (Itanium C++ ABI, section 3.3.3), in place of those of the C++ runtime library. Without them, a
// child forked while another thread runs an initialiser waits forever for that thread, which does
// not exist in the child. Each shared object of Spanwise links this file for its own variables.
#include <cxxabi.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <stdexcept>

#include "spanwise/core/fork.hpp"

namespace spanwise {
namespace {

using Guard = abi::__guard;

struct RunningInitialiser {
  const Guard* guard = nullptr;  // null: free
  pthread_t thread{};
};

// std::mutex, since the initialisers of other static variables may construct a Mutex.
constinit std::mutex guards_mutex;
// Of all threads, and nested ones; more wait. An array, since compilers assume that
// __cxa_guard_acquire() does not throw: there must be no allocation in it that can fail.
constinit std::array<RunningInitialiser, 64> running_now{};
// Incremented at the end of each initialiser; other threads wait for a change.
constinit std::atomic<int> initialisers_ended{0};

// The first byte of a guard is not 0 once the variable is initialised; the ABI leaves the other
// bytes to these functions, which do not use them.
std::atomic_ref<std::uint8_t> initialised_byte(Guard* guard) {
  return std::atomic_ref(*reinterpret_cast<std::uint8_t*>(guard));
}

// That of `guard`; with null a free entry. Null if there is none.
RunningInitialiser* find_running(const Guard* guard) noexcept {
  const auto found = std::ranges::find(running_now, guard, &RunningInitialiser::guard);
  return found == running_now.end() ? nullptr : &*found;
}

bool is_on_this_thread(const RunningInitialiser& running) noexcept {
  return ::pthread_equal(running.thread, ::pthread_self()) != 0;
}

bool begin_initialiser(Guard* guard) {
  std::unique_lock lock(guards_mutex);
  while (initialised_byte(guard).load(std::memory_order_acquire) == 0) {
    const RunningInitialiser* running = find_running(guard);
    RunningInitialiser* unused = running == nullptr ? find_running(nullptr) : nullptr;
    if (unused != nullptr) {
      *unused = {guard, ::pthread_self()};
      return true;
    }
    if (running != nullptr && is_on_this_thread(*running))
      throw std::logic_error("the initialiser of a static variable uses that variable");
    const int ended = initialisers_ended.load(std::memory_order_relaxed);
    lock.unlock();
    initialisers_ended.wait(ended);
    lock.lock();
  }
  return false;
}

void end_initialiser(Guard* guard, bool is_initialised) noexcept {
  {
    const std::lock_guard lock(guards_mutex);
    *find_running(guard) = {};
    initialised_byte(guard).store(is_initialised ? 1 : 0, std::memory_order_release);
    initialisers_ended.fetch_add(1, std::memory_order_relaxed);
  }
  initialisers_ended.notify_all();
}

/// Makes fork() wait until no other thread runs an initialiser. In the child of a fork that did not
/// wait long enough, the next use of the variable runs the initialiser again.
class RunningInitialisers final : ForkParticipant {
  bool try_pause() noexcept override {
    if (!guards_mutex.try_lock()) return false;
    if (!runs_elsewhere()) return true;
    guards_mutex.unlock();
    return false;
  }

  void resume() noexcept override { guards_mutex.unlock(); }

  void after_fork_in_child(bool was_paused) noexcept override {
    if (was_paused) return guards_mutex.unlock();
    new (&guards_mutex) std::mutex;
    for (RunningInitialiser& running : running_now)
      if (!is_on_this_thread(running)) running = {};
  }

  // Some initialisers load libraries and query drivers.
  std::chrono::milliseconds pause_timeout() const noexcept override {
    return std::chrono::milliseconds(10000);
  }

  static bool runs_elsewhere() noexcept {
    return std::ranges::any_of(running_now, [](const RunningInitialiser& running) {
      return running.guard != nullptr && !is_on_this_thread(running);
    });
  }
};

// Never destroyed: other threads may fork while the process exits.
[[maybe_unused]] auto& running_initialisers = *new RunningInitialisers;

}  // namespace
}  // namespace spanwise

// NOLINTBEGIN(bugprone-reserved-identifier): the names of the C++ ABI
extern "C" {

int __cxa_guard_acquire(abi::__guard* guard) { return spanwise::begin_initialiser(guard) ? 1 : 0; }
void __cxa_guard_release(abi::__guard* guard) noexcept { spanwise::end_initialiser(guard, true); }
void __cxa_guard_abort(abi::__guard* guard) noexcept { spanwise::end_initialiser(guard, false); }
}
// NOLINTEND(bugprone-reserved-identifier)
