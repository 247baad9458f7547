// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/block_runner.hpp"

#include "spanwise/core/error.hpp"

// Barriers of a block and collectives of its warps.
namespace spanwise::cpu_backend {

void BlockRunner::begin_barrier(int op, int line) {
  if (!running_) fail_undetected("a barrier", line);
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
  FaultTrap::poll();
  if (check_ != nullptr) [[unlikely]]
    check_barrier();
  const int threads = static_cast<int>(arrived_);
  int result = votes_;
  if (barrier_op_ == sw_barrier_and) result = votes_ == threads ? 1 : 0;
  if (barrier_op_ == sw_barrier_or) result = votes_ > 0 ? 1 : 0;
  results_[generation_ & 1u] = result;
  arrived_ = 0;
  ++generation_;
}

unsigned long long BlockRunner::warp(int op, unsigned mask, unsigned long long value, int lane,
                                     int width, int line) {
  const unsigned me = current_, bit = 1u << me % 32;
  Warp& warp = warps_[me / 32];
  Warp::Group* group = &warp.groups[0];
  const bool joins_only_group = warp.group_count == 1 && group->mask == mask && group->op == op;
  if (!joins_only_group || (mask & bit) == 0) [[unlikely]]
    group = &join_group(warp, op, mask, line);
  group->arrived |= bit;
  // Member by member: copying a temporary struct would load it right after it was stored in pieces.
  LaneCall& call = calls_[me];
  call.value = value;
  call.lane = lane;
  call.width = width;
  call.line = line;
  if (is_complete(warp, *group)) {
    complete_group(me / 32, *group);
    return calls_[me].result;
  }
  Thread& thread = threads_[me];
  thread.state = in_collective;
  const unsigned next = after(me);
  if (next / 32 == me / 32 && threads_[next].state == ready && !checks_stacks_)
    resume(thread, next, threads_[next]);
  else
    wait_in_collective();
  return calls_[me].result;
}

// The group of the collectives of `warp` that the running lane takes part in by a call.
Warp::Group& BlockRunner::join_group(Warp& warp, int op, unsigned mask, int line) {
  if (!running_) fail_undetected("a warp collective", line);
  if ((mask >> current_ % 32 & 1u) == 0)
    fail([&] {
      return text(thread_label(current_), " calls ", warp_op_name(op), " in line ", line,
                  " with the mask ", mask_text(mask),
                  ", which leaves out the calling lane. A lane must name itself");
    });
  for (int i = 0; i < warp.group_count; ++i) {
    Warp::Group& group = warp.groups[i];
    if (group.mask != mask) continue;
    if (group.op != op)
      fail([&] {
        return text(thread_label(current_), " calls ", warp_op_name(op), " in line ", line,
                    " while lanes of its warp wait for it at ", warp_op_name(group.op), " in line ",
                    group.line, ". All lanes of the mask must reach the same call");
      });
    return group;
  }
  // Each group has a lane that waits in no other group, so there are at most 32.
  Warp::Group& group = warp.groups[warp.group_count++];
  group = {mask, 0, op, line};
  return group;
}

bool BlockRunner::is_complete(const Warp& warp, const Warp::Group& group) {
  return (group.arrived & warp.alive) == (group.mask & warp.alive);
}

// Continues with lanes of the same warp first, so that the collective completes soon and few stacks
// are used meanwhile.
void BlockRunner::wait_in_collective() {
  const unsigned base = current_ / 32 * 32;
  const unsigned lanes = count_ - base < 32 ? count_ - base : 32;
  for (unsigned n = 1, lane = current_ - base; n < lanes; ++n) {
    lane = reverse_ ? (lane == 0 ? lanes - 1 : lane - 1) : (lane + 1 == lanes ? 0 : lane + 1);
    if (is_runnable(threads_[base + lane].state)) return suspend_for(base + lane);
  }
  wait();
}

void BlockRunner::complete_group(unsigned warp, Warp::Group& group) {
  if (check_ != nullptr) [[unlikely]]
    check_collective(warp, group);
  combine(group, &calls_[warp * 32], check_ != nullptr ? check_->poison() : -1);
  for_each_lane(group.arrived, [&](unsigned lane) {
    Thread& thread = threads_[warp * 32 + lane];
    if (thread.state == in_collective) thread.state = ready;
  });
  group = warps_[warp].groups[--warps_[warp].group_count];
}

// Completes the collectives that lacked only a lane that has ended.
void BlockRunner::release_groups(unsigned warp) {
  Warp& lanes = warps_[warp];
  for (int i = lanes.group_count - 1; i >= 0; --i)
    if (is_complete(lanes, lanes.groups[i])) complete_group(warp, lanes.groups[i]);
}

unsigned BlockRunner::active_mask(int line) {
  if (!running_) fail_undetected("__activemask()", line);
  const unsigned me = current_;
  calls_[me].line = line;
  threads_[me].state = converging;
  wait_in_collective();
  return static_cast<unsigned>(calls_[me].result);
}

// Called if no thread is runnable: the lanes of a warp that wait at the same __activemask() have
// converged there. Makes them runnable and returns whether there were any.
bool BlockRunner::try_release_converged() {
  bool has_released = false;
  for (unsigned t = 0; t < count_; ++t) {
    if (threads_[t].state != converging) continue;
    unsigned lanes = 0;
    const unsigned base = t / 32 * 32;
    for (unsigned peer = base; peer < base + 32 && peer < count_; ++peer)
      if (threads_[peer].state == converging && calls_[peer].line == calls_[t].line)
        lanes |= 1u << (peer - base);
    for_each_lane(lanes, [&](unsigned lane) {
      calls_[base + lane].result = lanes;
      threads_[base + lane].state = ready;
    });
    has_released = true;
  }
  return has_released;
}

}  // namespace spanwise::cpu_backend
