// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <type_traits>

#include "spanwise/core/export.hpp"

namespace spanwise {

/// State that another thread may be modifying when fork() is called; in the child that thread does
/// not exist. Handlers run for all objects of this class in the forking thread, whichever code
/// calls fork(): before the fork until no other thread uses any of them, then in the parent and in
/// the child.
///
/// The virtual functions run inside fork(): they must not block or throw, nor create or destroy
/// objects of this class.
class SW_API ForkParticipant {
 public:
  ForkParticipant(const ForkParticipant&) = delete;
  ForkParticipant& operator=(const ForkParticipant&) = delete;

 protected:
  ForkParticipant() noexcept;
  ~ForkParticipant();

 private:
  friend struct ForkRegistry;

  /// Before the fork: excludes other threads until resume(). Returns false and changes nothing
  /// while another thread is inside; called again until pause_timeout() has passed.
  virtual bool try_pause() noexcept { return true; }
  /// In the parent, and before another attempt to pause: ends a try_pause() that returned true.
  virtual void resume() noexcept {}
  /// In the child, where only the forking thread exists, in place of resume(). `was_paused` is the
  /// result of the last try_pause(); if false, another thread was inside and its changes may be
  /// incomplete.
  virtual void after_fork_in_child(bool was_paused) noexcept = 0;
  virtual std::chrono::milliseconds pause_timeout() const noexcept {
    return std::chrono::milliseconds(1000);
  }

  ForkParticipant* previous_ = nullptr;
  ForkParticipant* next_ = nullptr;
  bool is_paused_ = false;
};

/// Set while a thread that calls fork() waits for participants that are in use.
extern SW_API std::atomic<bool> fork_is_waiting;
/// Sleeps for longer than the forking thread does between two attempts, so that a thread that locks
/// and unlocks a mutex in a loop does not starve the fork.
SW_API void yield_to_fork() noexcept;

/// A mutex for short critical sections that do not wait: no compilation, no lock of another
/// library, no interpreter lock. fork() waits until no other thread holds it, so in the child it is
/// free and the protected state is consistent. Use with std::lock_guard and std::unique_lock.
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

/// 1 in the process that loaded the library, incremented in each forked child.
SW_API std::uint32_t process_generation() noexcept;

/// Registers the fork handlers again, so that participants are paused before the pthread_atfork()
/// handlers of libraries loaded so far run (the last registered runs first). For libraries whose
/// handlers deadlock while a participant is in use.
SW_API void renew_fork_handlers() noexcept;

/// A static variable that is never destroyed, because threads, plug-ins and other static objects
/// may use it until the process ends: `static NeverDestroyed<T> value;`. Unlike `*new T` it is not
/// allocated, so that its first use may be in a noexcept function while there is no memory.
template <class T>
class NeverDestroyed {
 public:
  NeverDestroyed() noexcept(std::is_nothrow_default_constructible_v<T>) { new (bytes_) T(); }
  NeverDestroyed(const NeverDestroyed&) = delete;
  NeverDestroyed& operator=(const NeverDestroyed&) = delete;

  T& operator*() noexcept { return *std::launder(reinterpret_cast<T*>(bytes_)); }
  T* operator->() noexcept { return &**this; }

 private:
  alignas(T) std::byte bytes_[sizeof(T)];
};

/// Held around dlopen(), dlclose() and dlsym(): in a child forked while another thread holds the
/// dynamic loader's own lock, every dlopen() would block forever.
SW_API Mutex& loader_mutex();

}  // namespace spanwise
