// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/block_runner.hpp"

#include <algorithm>
#include <utility>

#include "backends/cpu/exec/launch_plan.hpp"
#include "backends/cpu/exec/stack_limit.hpp"

namespace spanwise::cpu_backend {

void BlockRunner::reserve_stack(std::size_t bytes) {
  if (!stacks_.reserve(bytes)) return;
  checks_stacks_ = stacks_.is_guarded();
  reset_fibers();
}

void BlockRunner::reset_fibers() {
  watch_.remove_all(stacks_.region());
  parked_.clear();
  parked_.reserve(FiberStacks::max_stacks + 1);  // switches store to elements, so no reallocation
  fibers_ = 0;
}

std::string BlockRunner::take_failure() {
  // After an escape, fibers are suspended within a kernel that has ended.
  if (std::exchange(is_aborting_, false)) reset_fibers();
  running_ = false;
  arrived_ = 0;
  return std::exchange(failure_, {});
}

void BlockRunner::run(const sw_range& range, sw_block_function block, sw_thread_function thread,
                      const void* arguments) {
  range_ = &range;
  enter_block_ = block;
  run_thread_ = thread;
  arguments_ = arguments;
  block_ = range.first;
  if (block_ == range.last) return;
  prepare_block_shape(range.block);
  block_index_ = position_of(block_, range.grid);
  done_ = false;
  running_ = true;
  start_block();
  run_threads(0);
  running_ = false;
  check_stacks();
  if (check_ != nullptr) fail_unless(check_->finish_pending_store());
}

void BlockRunner::prepare_block_shape(const sw_extent& block) {
  count_ = block.x * block.y * block.z;
  const IndexOrder order = index_order(count_, reverse_, shuffle_seed_);
  first_ = static_cast<unsigned>(order.first);
  step_ = static_cast<unsigned>(order.step);
  if (block.x == shape_.x && block.y == shape_.y && block.z == shape_.z) return;
  shape_ = block;
  coordinates_.clear();
  for (unsigned z = 0; z < block.z; ++z)
    for (unsigned y = 0; y < block.y; ++y)
      for (unsigned x = 0; x < block.x; ++x) coordinates_.push_back({x, y, z});
}

void BlockRunner::start_block() {
  // No thread waits between blocks, so the numbers of barriers may restart; a block has far fewer
  // than 2^28 barriers.
  if (generation_ > 0xf0000000u) generation_ = first_generation;
  for (unsigned t = 0; t < count_; ++t) threads_[t].state = unstarted;
  for (unsigned w = 0; w * 32 < count_; ++w) {
    const unsigned lanes = count_ - w * 32;
    warps_[w].alive = lanes >= 32 ? ~0u : (1u << lanes) - 1;
    warps_[w].group_count = 0;
  }
  live_ = count_;
  if (check_ != nullptr) start_check();
  enter_block_(block_index_.x, block_index_.y, block_index_.z);
  current_ = first_;
}

bool BlockRunner::next_block() {
  if (++block_ >= range_->last) return false;
  if (++block_index_.x == range_->grid.x) {
    block_index_.x = 0;
    if (++block_index_.y == range_->grid.y) {
      block_index_.y = 0;
      ++block_index_.z;
    }
  }
  start_block();
  return true;
}

// Sets the stack limit, which stacks of known depth do not need, and switches.
inline __attribute__((always_inline)) void BlockRunner::switch_to_fiber(StackPointer* from,
                                                                        StackPointer to,
                                                                        std::int32_t fiber) {
  if (checks_stacks_) set_stack_limit(fiber == 0 ? own_stack().data() : stacks_.low(fiber - 1));
  watch_.switch_to(from, to, fiber);
}

// Parks the running stack, `fiber`, and resumes the suspended thread `next` or, if that is
// `no_thread`, the worker's own stack.
inline __attribute__((always_inline)) void BlockRunner::park_and_resume(std::int32_t fiber,
                                                                        unsigned next) {
  SuspendedFiber target;
  if (next == no_thread) {
    const auto own = std::ranges::find(parked_, 0, &SuspendedFiber::fiber);
    target = *own;
    parked_.erase(own);
  } else {
    current_ = next;
    target = {threads_[next].stack, threads_[next].fiber};
    prefetch_stack(threads_[after(next)].stack);
  }
  parked_.push_back({nullptr, fiber});
  switch_to_fiber(&parked_.back().stack, target.stack, target.fiber);
}

inline __attribute__((always_inline)) void BlockRunner::end_thread() {
  threads_[current_].state = ended;
  --live_;
  if (check_ != nullptr && !may_hide_returns_ && !returned_.test(current_))
    passed_end_.set(current_);
  Warp& warp = warps_[current_ / 32];
  warp.alive &= ~(1u << current_ % 32);
  if (warp.group_count > 0) release_groups(current_ / 32);
  if (arrived_ == live_ && arrived_ > 0) release_barrier();
}

void BlockRunner::fiber_entry(void* runner) {
  auto& self = *static_cast<BlockRunner*>(runner);
  self.watch_.entered();
  self.run_threads(self.threads_[self.current_].fiber);
}

// Runs threads on the running stack, `fiber`. On the worker's own stack it returns when all blocks
// are done; on other stacks it never returns.
void BlockRunner::run_threads(std::int32_t fiber) {
  for (;;) {
    Thread& thread = threads_[current_];
    thread.state = ready;
    thread.fiber = fiber;
    const sw_extent& index = coordinates_[current_];
    run_thread_(arguments_, index.x, index.y, index.z);
    end_thread();
    if (live_ == 0) {
      if (next_block()) continue;
      if (fiber == 0) return;
      done_ = true;
    }
    const unsigned next = done_ ? no_thread : next_runnable();
    if (next != no_thread && threads_[next].state == unstarted) {
      current_ = next;
      continue;
    }
    park_and_resume(fiber, next);
    if (is_aborting_) leave_kernel();
    if (done_ && fiber == 0) return;
  }
}

void BlockRunner::limit_own_stack() const {
  if (checks_stacks_) set_stack_limit(own_stack().data());
}

// A stack on which a thread can start.
BlockRunner::SuspendedFiber BlockRunner::take_fiber() {
  if (!parked_.empty()) {
    const SuspendedFiber fiber = parked_.back();
    parked_.pop_back();
    if (!parked_.empty()) prefetch_stack(parked_.back().stack);
    return fiber;
  }
  const auto stack = stacks_.prepare(fibers_++);
  watch_.add(fibers_, stack);
  return {make_stack(stack.data(), stack.size(), fiber_entry, this), fibers_};
}

// Suspends the running thread and continues with `next`.
void BlockRunner::suspend_for(unsigned next) {
  Thread& self = threads_[current_];
  Thread& target = threads_[next];
  if (&self == &target) return;
  if (checks_stacks_) check_stack(self.fiber);
  current_ = next;
  if (target.state == unstarted) {
    const SuspendedFiber fiber = take_fiber();
    target.state = ready;
    target.fiber = fiber.fiber;
    switch_to_fiber(&self.stack, fiber.stack, fiber.fiber);
  } else {
    switch_to_fiber(&self.stack, target.stack, target.fiber);
  }
  if (is_aborting_) [[unlikely]]
    leave_kernel();
}

void BlockRunner::wait() { suspend_for(next_runnable()); }

unsigned BlockRunner::find_runnable() const {
  unsigned t = current_;
  for (unsigned n = 0; n < count_; ++n) {
    t = after(t);
    if (is_runnable(threads_[t].state)) return t;
  }
  return no_thread;
}

// next_runnable() where the next thread in order is not runnable.
unsigned BlockRunner::search_runnable() {
  unsigned next = find_runnable();
  if (next == no_thread && try_release_converged()) next = find_runnable();
  if (next == no_thread) fail_deadlock();
  return next;
}

}  // namespace spanwise::cpu_backend
