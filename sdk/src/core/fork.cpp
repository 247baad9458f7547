// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/core/fork.hpp"

#include <pthread.h>

#include <new>
#include <thread>
#include <utility>

namespace spanwise {
namespace {

using ForkClock = std::chrono::steady_clock;

// Delay between two attempts to pause all participants.
constexpr auto delay_between_attempts = std::chrono::microseconds(100);

// Protects the list of participants; the forking thread holds it from the end of prepare() to the
// end of the fork.
constinit std::mutex registry_mutex;
constinit ForkParticipant* first_participant = nullptr;
constinit bool has_handlers = false;
// The handlers may be registered several times: the first call in the forking thread prepares, the
// last call in the parent and in the child resumes.
constinit thread_local int preparations = 0;
constinit std::atomic<std::uint32_t> fork_generation{1};

}  // namespace

struct ForkRegistry {
  static void add(ForkParticipant& participant) noexcept {
    const std::lock_guard lock(registry_mutex);
    if (!has_handlers) has_handlers = register_handlers();
    participant.next_ = first_participant;
    if (first_participant != nullptr) first_participant->previous_ = &participant;
    first_participant = &participant;
  }

  static void remove(ForkParticipant& participant) noexcept {
    const std::lock_guard lock(registry_mutex);
    ForkParticipant*& from_previous =
        participant.previous_ != nullptr ? participant.previous_->next_ : first_participant;
    from_previous = participant.next_;
    if (participant.next_ != nullptr) participant.next_->previous_ = participant.previous_;
  }

  static bool register_handlers() noexcept {
    return pthread_atfork(&prepare, &in_parent, &in_child) == 0;
  }

 private:
  // Keeps no participant paused while it sleeps, so that a thread holding one of the mutexes can
  // lock another.
  static void prepare() noexcept {
    if (preparations++ > 0) return;
    const ForkClock::time_point begin = ForkClock::now();
    for (;;) {
      registry_mutex.lock();
      const bool is_ready = pause_all(ForkClock::now() - begin);
      fork_is_waiting.store(!is_ready, std::memory_order_relaxed);
      if (is_ready) return;
      resume_all();
      registry_mutex.unlock();
      std::this_thread::sleep_for(delay_between_attempts);
    }
  }

  static void in_parent() noexcept {
    if (--preparations > 0) return;
    resume_all();
    registry_mutex.unlock();
  }

  static void in_child() noexcept {
    if (--preparations > 0) return;
    fork_generation.fetch_add(1, std::memory_order_relaxed);
    for (ForkParticipant* p = first_participant; p != nullptr; p = p->next_)
      p->after_fork_in_child(std::exchange(p->is_paused_, false));
    registry_mutex.unlock();
  }

  // Returns false, with some participants paused, if another attempt is needed. Participants still
  // in use after their pause_timeout() are left unpaused.
  static bool pause_all(ForkClock::duration waited) noexcept {
    for (ForkParticipant* p = first_participant; p != nullptr; p = p->next_) {
      p->is_paused_ = p->try_pause();
      if (!p->is_paused_ && waited < p->pause_timeout()) return false;
    }
    return true;
  }

  static void resume_all() noexcept {
    for (ForkParticipant* p = first_participant; p != nullptr; p = p->next_)
      if (std::exchange(p->is_paused_, false)) p->resume();
  }
};

constinit std::atomic<bool> fork_is_waiting{false};

void yield_to_fork() noexcept { std::this_thread::sleep_for(2 * delay_between_attempts); }

ForkParticipant::ForkParticipant() noexcept { ForkRegistry::add(*this); }
ForkParticipant::~ForkParticipant() { ForkRegistry::remove(*this); }

bool Mutex::try_pause() noexcept { return mutex_.try_lock(); }
void Mutex::resume() noexcept { mutex_.unlock(); }

void Mutex::after_fork_in_child(bool was_paused) noexcept {
  if (was_paused)
    mutex_.unlock();
  else
    new (&mutex_) std::mutex;  // its owner thread does not exist in this process
}

void renew_fork_handlers() noexcept { ForkRegistry::register_handlers(); }

std::uint32_t process_generation() noexcept {
  return fork_generation.load(std::memory_order_relaxed);
}

Mutex& loader_mutex() {
  static NeverDestroyed<Mutex> mutex;  // libraries may be unloaded at process exit
  return *mutex;
}

}  // namespace spanwise
