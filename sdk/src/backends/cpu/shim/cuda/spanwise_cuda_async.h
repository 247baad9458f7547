// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// cuda::barrier, cuda::pipeline, cuda::memcpy_async and cuda::annotated_ptr of libcu++, in place of
// CCCL's, whose threads would spin. Copies are synchronous, which they may be.

#include "spanwise_intrinsics.h"
#include "spanwise_phases.h"
#ifdef SW_CCCL
#include <cuda/std/__atomic/scopes.h>
#endif

namespace cuda {

#ifndef SW_CCCL
enum thread_scope {
  thread_scope_system,
  thread_scope_device,
  thread_scope_block = 3,
  thread_scope_thread = 10
};
#endif
template <size_t alignment>
struct aligned_size_t {
  static constexpr size_t align = alignment;
  size_t value;
  explicit constexpr aligned_size_t(size_t bytes) : value(bytes) {}
  constexpr operator size_t() const { return value; }
};

struct sw_no_completion {};
template <thread_scope scope, class Completion = sw_no_completion>
class barrier {
 public:
  typedef unsigned arrival_token;
  barrier() = default;
  explicit barrier(long count, Completion = {}) { phases_.init((unsigned)count); }
  barrier(const barrier&) = delete;
  static constexpr long max() { return (1l << 20) - 1; }
  friend void init(barrier* b, long count) { b->phases_.init((unsigned)count); }
  friend void init(barrier* b, long count, Completion) { b->phases_.init((unsigned)count); }
  [[nodiscard]] arrival_token arrive(long count = 1) { return phases_.arrive((unsigned)count); }
  void wait(arrival_token token, int line = __builtin_LINE()) const { phases_.wait(token, line); }
  void wait_parity(bool parity, int line = __builtin_LINE()) const {
    const unsigned phase = sw_phases::load(&phases_.phase);
    if ((phase & 1u) == (parity ? 1u : 0u)) phases_.wait(phase, line);
  }
  bool try_wait(arrival_token token, int line = __builtin_LINE()) const {
    return wait(token, line), true;
  }
  bool try_wait_parity(bool parity, int line = __builtin_LINE()) const {
    return wait_parity(parity, line), true;
  }
  void arrive_and_wait(int line = __builtin_LINE()) { wait(arrive(), line); }
  void arrive_and_drop() { phases_.arrive_and_drop(); }

 private:
  sw_phases phases_;
};

enum class pipeline_role { producer, consumer };
template <thread_scope scope, unsigned char stages>
struct pipeline_shared_state {
  sw_phases produced[stages], consumed[stages];
};

// Stages that producers fill and consumers read in turn. A pipeline of one thread has no state, as
// nothing is to be waited for.
template <thread_scope scope>
class pipeline {
 public:
  pipeline() = default;
  template <unsigned char stages>
  pipeline(pipeline_shared_state<scope, stages>* state)
      : produced_(state->produced), consumed_(state->consumed), stages_(stages) {}
  pipeline(pipeline&&) = default;
  pipeline(const pipeline&) = delete;
  void producer_acquire(int line = __builtin_LINE()) const {
    if (stages_ != 0) await(consumed_[head_ % stages_], head_ / stages_, line);
  }
  void producer_commit() {
    if (stages_ != 0) produced_[head_++ % stages_].arrive();
  }
  void consumer_wait(int line = __builtin_LINE()) const {
    if (stages_ != 0) await(produced_[tail_ % stages_], tail_ / stages_ + 1, line);
  }
  void consumer_release() {
    if (stages_ != 0) consumed_[tail_++ % stages_].arrive();
  }
  bool quit() { return true; }

 private:
  // Waits for the number of ended phases.
  static void await(const sw_phases& phases, unsigned count, int line) {
    for (unsigned phase; (phase = sw_phases::load(&phases.phase)) < count;)
      phases.wait(phase, line);
    phases.pass(line);
  }
  sw_phases *produced_ = nullptr, *consumed_ = nullptr;
  unsigned stages_ = 0, head_ = 0, tail_ = 0;
};

SW_FN pipeline<thread_scope_thread> make_pipeline() { return {}; }
template <class Group, thread_scope scope, unsigned char stages>
SW_FN pipeline<scope> sw_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state,
                                  unsigned producers, unsigned consumers) {
  if (group.thread_rank() == 0)
    for (int i = 0; i < stages; ++i) {
      state->produced[i].init(producers);
      state->consumed[i].init(consumers);
    }
  group.sync();
  return pipeline<scope>(state);
}
template <class Group, thread_scope scope, unsigned char stages>
SW_FN pipeline<scope> make_pipeline(const Group& group,
                                    pipeline_shared_state<scope, stages>* state) {
  return sw_pipeline(group, state, (unsigned)group.size(), (unsigned)group.size());
}
template <class Group, thread_scope scope, unsigned char stages>
SW_FN pipeline<scope> make_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state,
                                    size_t producers) {
  return sw_pipeline(group, state, (unsigned)producers, (unsigned)(group.size() - producers));
}
template <class Group, thread_scope scope, unsigned char stages>
SW_FN pipeline<scope> make_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state,
                                    pipeline_role role, int line = __builtin_LINE()) {
  const auto producers =
      (unsigned)sw_barrier_vote(sw_barrier_count, role == pipeline_role::producer, line);
  return sw_pipeline(group, state, producers, (unsigned)group.size() - producers);
}
template <unsigned char prior, thread_scope scope>
SW_FN void pipeline_consumer_wait_prior(pipeline<scope>&) {}

// The last argument is a barrier or a pipeline.
template <class T, class Size, class Sync>
SW_FN void memcpy_async(T* target, const T* source, Size bytes, Sync&) {
  memcpy(target, source, (size_t)bytes);
}
template <class Group, class T, class Size, class Sync>
SW_FN void memcpy_async(const Group& group, T* target, const T* source, Size bytes, Sync&) {
  const size_t count = (size_t)bytes, size = (size_t)group.size();
  const size_t part = (count / sizeof(T) + size - 1) / size * sizeof(T);
  const size_t begin = part * group.thread_rank();
  if (begin >= count) return;
  memcpy((char*)target + begin, (const char*)source + begin,
         count - begin < part ? count - begin : part);
}

// Hints for caches.
struct access_property {
  struct shared {};
  struct global {};
  struct normal {};
  struct streaming {};
  struct persisting {};
  access_property() = default;
  template <class Property>
  constexpr access_property(Property) {}
};
template <class T, class Property = access_property>
class annotated_ptr {
 public:
  constexpr annotated_ptr() = default;
  constexpr explicit annotated_ptr(T* p) : p_(p) {}
  template <class Hint>
  constexpr annotated_ptr(T* p, Hint) : p_(p) {}
  T& operator*() const { return *p_; }
  T* operator->() const { return p_; }
  T& operator[](ptrdiff_t i) const { return p_[i]; }
  ptrdiff_t operator-(annotated_ptr other) const { return p_ - other.p_; }
  explicit operator bool() const { return p_ != nullptr; }
  T* get() const { return p_; }
  Property __property() const { return {}; }

 private:
  T* p_ = nullptr;
};
template <class T, class Property>
SW_FN T* associate_access_property(T* p, Property) {
  return p;
}
template <class Shape, class Property>
SW_FN void apply_access_property(const volatile void*, Shape, Property) {}
template <class Shape>
SW_FN void discard_memory(volatile void*, Shape) {}

}  // namespace cuda
