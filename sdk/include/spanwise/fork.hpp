// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "spanwise/export.hpp"

namespace spanwise {

/// State that fork() could leave in the hands of a thread which the child process does not have.
/// All objects of this class are asked in the forking thread, whichever code calls fork(): before
/// the fork until none of them is in use by another thread, then in the parent and in the child.
///
/// The functions below run inside fork(): they neither wait nor throw, and they neither create nor
/// destroy objects of this class.
class SW_API ForkParticipant {
 public:
  ForkParticipant(const ForkParticipant&) = delete;
  ForkParticipant& operator=(const ForkParticipant&) = delete;

 protected:
  ForkParticipant() noexcept;
  ~ForkParticipant();

 private:
  friend struct ForkRegistry;

  /// Before the fork: keeps other threads out until resume(). False, with nothing changed, while
  /// one is inside; asked again soon, for patience() altogether.
  virtual bool try_pause() noexcept { return true; }
  /// After a try_pause() that returned true, unless after_fork_in_child() is called instead.
  virtual void resume() noexcept {}
  /// In the child, where only the forking thread is left. `was_paused`: what the last try_pause()
  /// returned. Where it is false, another thread was inside, which will never leave.
  virtual void after_fork_in_child(bool was_paused) noexcept = 0;
  virtual std::chrono::milliseconds patience() const noexcept {
    return std::chrono::milliseconds(1000);
  }

  ForkParticipant* previous_ = nullptr;
  ForkParticipant* next_ = nullptr;
  bool is_paused_ = false;
};

/// Set while a thread that calls fork() waits for participants that are in use.
extern SW_API std::atomic<bool> fork_is_waiting;
/// Sleeps for longer than the waiting thread does between two attempts, so that a thread that locks
/// and unlocks a mutex in a loop does not keep it from ever being found free.
SW_API void yield_to_fork() noexcept;

/// A mutex for sections that end without waiting for anything: no compile, no other library's lock,
/// no interpreter's lock. A fork waits until no other thread holds it, so the child finds it free
/// and what it protects whole. Use with std::lock_guard and std::unique_lock.
class SW_API Mutex final : ForkParticipant {
 public:
  Mutex() noexcept = default;
  ~Mutex() = default;

  void lock() {
    if (fork_is_waiting.load(std::memory_order_relaxed)) [[unlikely]]
      yield_to_fork();
    mutex_.lock();
  }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() noexcept { mutex_.unlock(); }

 private:
  bool try_pause() noexcept override;
  void resume() noexcept override;
  void after_fork_in_child(bool was_paused) noexcept override;

  std::mutex mutex_;
};

/// 1 in a process that was not forked since the library was loaded, one more in each child.
SW_API std::uint32_t process_generation() noexcept;

/// Has the participants paused before the handlers run that libraries loaded so far have given to
/// pthread_atfork(): the last registered run first. For a library whose handlers hang while a
/// participant uses it.
SW_API void renew_fork_handlers() noexcept;

/// Held around dlopen(), dlclose() and dlsym(): the dynamic loader has a lock of its own, and in a
/// child forked while another thread holds that one, every dlopen() would wait for ever.
SW_API Mutex& loader_mutex();

}  // namespace spanwise
