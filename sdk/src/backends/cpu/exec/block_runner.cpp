// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/block_runner.hpp"

#include <bit>
#include <numeric>
#include <utility>

#include "backends/cpu/exec/stack_limit.hpp"
#include "spanwise/error.hpp"

namespace spanwise::host {

void BlockRunner::reserve_stack(std::size_t bytes) {
  if (!stacks_.reserve(bytes)) return;
  careful_ = stacks_.guarded();
  forget_fibers();
}

void BlockRunner::forget_fibers() {
  watch_.forget_all(stacks_.region());
  parked_.clear();
  parked_.reserve(FiberStacks::most + 1);  // switches store to elements, so no reallocation
  fibers_ = 0;
}

std::string BlockRunner::take_failure() {
  // After an escape, fibers are suspended within a kernel that has ended.
  if (std::exchange(aborting_, false)) forget_fibers();
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
  block_index_ = {static_cast<unsigned>(block_ % range.grid.x),
                  static_cast<unsigned>(block_ / range.grid.x % range.grid.y),
                  static_cast<unsigned>(block_ / range.grid.x / range.grid.y)};
  done_ = false;
  running_ = true;
  start_block();
  work(0);
  running_ = false;
  check_stacks();
}

void BlockRunner::prepare_block_shape(const sw_extent& block) {
  count_ = block.x * block.y * block.z;
  first_ = reverse_ ? count_ - 1 : 0;
  step_ = reverse_ || count_ == 1 ? count_ - 1 : 1;
  if (shuffle_ != 0 && count_ > 2) {
    // A step coprime to the number of threads visits every thread.
    first_ = static_cast<unsigned>(shuffle_ % count_);
    step_ = static_cast<unsigned>(shuffle_ / count_ % (count_ - 1)) + 1;
    while (std::gcd(step_, count_) != 1) step_ = step_ % (count_ - 1) + 1;
  }
  if (block.x == shape_.x && block.y == shape_.y && block.z == shape_.z) return;
  shape_ = block;
  coordinates_.clear();
  for (unsigned z = 0; z < block.z; ++z)
    for (unsigned y = 0; y < block.y; ++y)
      for (unsigned x = 0; x < block.x; ++x) coordinates_.push_back({x, y, z});
}

void BlockRunner::start_block() {
  // Threads of different launches never wait for the same barrier, so the numbers may restart at
  // any block.
  if (generation_ > 0xf0000000u) generation_ = first_generation;
  for (unsigned t = 0; t < count_; ++t) threads_[t].state = unstarted;
  for (unsigned w = 0; w * 32 < count_; ++w) {
    const unsigned lanes = count_ - w * 32;
    warps_[w].alive = lanes >= 32 ? ~0u : (1u << lanes) - 1;
    warps_[w].group_count = 0;
  }
  live_ = count_;
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

void BlockRunner::fiber_entry(void* runner) {
  auto& self = *static_cast<BlockRunner*>(runner);
  self.watch_.entered();
  self.work(self.threads_[self.current_].fiber);
}

// Runs threads on the current stack. Returns when all blocks are done, but only on the worker's own
// stack; never returns on other stacks.
void BlockRunner::work(std::int32_t fiber) {
  for (;;) {
    Thread& thread = threads_[current_];
    thread.state = ready;
    thread.fiber = fiber;
    const sw_extent& at = coordinates_[current_];
    run_thread_(arguments_, at.x, at.y, at.z);
    end_thread();
    if (live_ == 0) {
      if (next_block()) continue;
      if (fiber == 0) return;
      done_ = true;
    }
    const unsigned next = done_ ? nobody : find_runnable_or_resolve();
    if (next != nobody && threads_[next].state == unstarted) {
      current_ = next;
      continue;
    }
    park_and_go(fiber, next);
    if (aborting_) abandon();
    if (done_ && fiber == 0) return;
  }
}

void BlockRunner::end_thread() {
  threads_[current_].state = ended;
  --live_;
  release_warps_after_end(current_);
  if (arrived_ == live_ && arrived_ > 0) release_barrier();
}

// Parks this stack and resumes the suspended thread `next` or, if that is `nobody`, the worker's
// own stack.
void BlockRunner::park_and_go(std::int32_t fiber, unsigned next) {
  SuspendedFiber target;
  if (next == nobody) {
    std::size_t main = parked_.size();
    while (parked_[--main].fiber != 0) {
    }
    target = parked_[main];
    parked_.erase(parked_.begin() + static_cast<std::ptrdiff_t>(main));
  } else {
    current_ = next;
    target = {threads_[next].stack, threads_[next].fiber};
    prefetch_stack(threads_[after(next)].stack);
  }
  parked_.push_back({nullptr, fiber});
  go_to(&parked_.back().stack, target.stack, target.fiber);
}

void BlockRunner::limit_own_stack() const {
  if (careful_) set_stack_limit(own_stack().data());
}

// Sets the stack limit and switches. Stacks of known depth need no limit and may be switched
// without it.
void BlockRunner::go_to(StackPointer* from, StackPointer to, std::int32_t fiber) {
  if (careful_) set_stack_limit(fiber == 0 ? own_stack().data() : stacks_.low(fiber - 1));
  watch_.switch_to(from, to, fiber);
}

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
void BlockRunner::leave_for(unsigned next) {
  Thread& mine = threads_[current_];
  Thread& other = threads_[next];
  if (&mine == &other) return;
  if (careful_) check_stack(mine.fiber);
  current_ = next;
  if (other.state == unstarted) {
    const SuspendedFiber fiber = take_fiber();
    other.state = ready;
    other.fiber = fiber.fiber;
    go_to(&mine.stack, fiber.stack, fiber.fiber);
  } else {
    go_to(&mine.stack, other.stack, other.fiber);
  }
  if (aborting_) [[unlikely]]
    abandon();
}

void BlockRunner::wait() { leave_for(find_runnable_or_resolve()); }

unsigned BlockRunner::find_runnable() const {
  unsigned t = current_;
  for (unsigned n = 0; n < count_; ++n) {
    t = after(t);
    if (runnable(threads_[t].state)) return t;
  }
  return nobody;
}

unsigned BlockRunner::find_runnable_or_resolve() {
  unsigned next = after(current_);
  if (runnable(threads_[next].state)) return next;
  next = find_runnable();
  if (next == nobody && release_converged()) next = find_runnable();
  if (next == nobody) fail_standstill();
  return next;
}

void BlockRunner::begin_barrier(int op, int line) {
  if (!running_) fail_hidden("a barrier", line);
  barrier_op_ = op;
  barrier_line_ = line;
  votes_ = 0;
}

int BlockRunner::barrier_vote(int op, int predicate, int line) {
  if (arrived_ == 0) begin_barrier(op, line);
  if (barrier_line_ != line || barrier_op_ != op) fail_divergence(op, line);
  votes_ += predicate;
  const std::uint32_t mine = generation_;
  if (++arrived_ == live_) {
    release_barrier();
  } else {
    threads_[current_].state = mine;
    wait();
  }
  return results_[mine & 1u];
}

// Makes all threads that wait for the current barrier runnable by a new generation, without writing
// to each.
void BlockRunner::release_barrier() {
  const int threads = static_cast<int>(arrived_);
  int result = votes_;
  if (barrier_op_ == sw_barrier_and) result = votes_ == threads ? 1 : 0;
  if (barrier_op_ == sw_barrier_or) result = votes_ > 0 ? 1 : 0;
  results_[generation_ & 1u] = result;
  arrived_ = 0;
  ++generation_;
}

std::uint64_t BlockRunner::warp(int op, unsigned mask, std::uint64_t value, int source_lane,
                                int width, int line) {
  const unsigned me = current_, bit = 1u << me % 32;
  Warp& warp = warps_[me / 32];
  Warp::Group* group = &warp.groups[0];
  const bool joins_the_only_one = warp.group_count == 1 && group->mask == mask && group->op == op;
  if (!joins_the_only_one || (mask & bit) == 0) [[unlikely]]
    group = &join_group(warp, op, mask, line);
  group->arrived |= bit;
  // Member by member: copying a temporary struct would load it right after it was stored in pieces.
  Posted& posted = posted_[me];
  posted.value = value;
  posted.lane = source_lane;
  posted.width = width;
  posted.line = line;
  if (complete(warp, *group)) {
    deliver(me / 32, *group);
    return posted_[me].result;
  }
  Thread& thread = threads_[me];
  thread.state = in_warp;
  const unsigned next = after(me);
  if (next / 32 == me / 32 && threads_[next].state == ready && !careful_)
    go_on_with(thread, next, threads_[next]);
  else
    wait_in_warp();
  return posted_[me].result;
}

Warp::Group& BlockRunner::join_group(Warp& warp, int op, unsigned mask, int line) {
  if (!running_) fail_hidden("a warp collective", line);
  if ((mask >> current_ % 32 & 1u) == 0)
    fail([&] {
      return text(place(current_), " calls ", warp_op_name(op), " in line ", line,
                  " with the mask ", mask_text(mask),
                  ", which leaves out the calling lane. A lane must name itself");
    });
  Warp::Group* group = warp.find(mask);
  if (group == nullptr) return warp.add(mask, op, line);
  if (group->op != op)
    fail([&] {
      return text(place(current_), " calls ", warp_op_name(op), " in line ", line,
                  " while lanes of its warp wait for it at ", warp_op_name(group->op), " in line ",
                  group->line, ". All lanes of the mask must reach the same call");
    });
  return *group;
}

bool BlockRunner::complete(const Warp& warp, const Warp::Group& group) {
  return (group.arrived & warp.alive) == (group.mask & warp.alive);
}

// Continues with lanes of the same warp first, so that the collective completes soon and few stacks
// are used meanwhile.
void BlockRunner::wait_in_warp() {
  const unsigned base = current_ / 32 * 32;
  const unsigned lanes = count_ - base < 32 ? count_ - base : 32;
  for (unsigned n = 1, lane = current_ - base; n < lanes; ++n) {
    lane = reverse_ ? (lane == 0 ? lanes - 1 : lane - 1) : (lane + 1 == lanes ? 0 : lane + 1);
    if (runnable(threads_[base + lane].state)) return leave_for(base + lane);
  }
  wait();
}

void BlockRunner::deliver(unsigned warp, Warp::Group& group) {
  combine(group, &posted_[warp * 32]);
  for (unsigned lanes = group.arrived; lanes != 0; lanes &= lanes - 1) {
    Thread& thread = threads_[warp * 32 + static_cast<unsigned>(std::countr_zero(lanes))];
    if (thread.state == in_warp) thread.state = ready;
  }
  warps_[warp].remove(group);
}

// Completes the collectives that were only waiting for a lane that has ended.
void BlockRunner::release_warps_after_end(unsigned thread) {
  Warp& warp = warps_[thread / 32];
  warp.alive &= ~(1u << thread % 32);
  for (int i = warp.group_count - 1; i >= 0; --i)
    if (complete(warp, warp.groups[i])) deliver(thread / 32, warp.groups[i]);
}

unsigned BlockRunner::active_mask(int line) {
  if (!running_) fail_hidden("__activemask()", line);
  const unsigned me = current_;
  posted_[me].line = line;
  threads_[me].state = converging;
  wait_in_warp();
  return static_cast<unsigned>(posted_[me].result);
}

// Called if no thread is runnable: the lanes of a warp that wait at the same __activemask() have
// converged there. Makes them runnable and returns whether there were any.
bool BlockRunner::release_converged() {
  bool any = false;
  for (unsigned t = 0; t < count_; ++t) {
    if (threads_[t].state != converging) continue;
    unsigned lanes = 0;
    const unsigned base = t / 32 * 32;
    const auto stands_here = [&](unsigned other) {
      return threads_[other].state == converging && posted_[other].line == posted_[t].line;
    };
    for (unsigned other = base; other < base + 32 && other < count_; ++other)
      if (stands_here(other)) lanes |= 1u << (other - base);
    for (unsigned rest = lanes; rest != 0; rest &= rest - 1)
      posted_[base + static_cast<unsigned>(std::countr_zero(rest))].result = lanes;
    for (unsigned other = base + 32; other-- > base;)
      if ((lanes >> (other - base) & 1u) != 0) threads_[other].state = ready;
    any = true;
  }
  return any;
}

}  // namespace spanwise::host
