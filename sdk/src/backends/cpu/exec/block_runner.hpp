// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <csetjmp>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/cpu/exec/fiber_stacks.hpp"
#include "backends/cpu/exec/fiber_watch.hpp"
#include "backends/cpu/exec/warp.hpp"
#include "backends/cpu/shim/spanwise_abi.h"

namespace spanwise::host {

/// Runs the threads of one block after the other on one processor, and lets them wait for one
/// another.
///
/// A thread is first run as a plain call, on whatever stack is free. Only when it waits is its
/// stack set aside, and the next thread gets another one. A stack whose thread has ended takes the
/// next thread that has not begun, also of the next block, so that in the long run a barrier costs
/// one switch a thread, and so does the end of a block. The worker's own stack is one among them.
///
/// Rules, as on a GPU since compute capability 7.0: threads that have ended count as having arrived
/// at every barrier and collective. Threads waiting at different barriers, or for one another in a
/// circle, are an error.
class BlockRunner {
 public:
  /// A thread's stack will be at least this long. Throws OutOfMemoryError.
  void reserve_stack(std::size_t bytes);
  void set_reverse(bool reverse) noexcept { reverse_ = reverse; }
  /// Another order of threads for each number, or with 0 the one that set_reverse() chose.
  void set_shuffle(std::uint64_t seed) noexcept { shuffle_ = seed; }
  /// Room for `fail` to leave the kernel: setjmp on this before run(), on the same stack.
  std::jmp_buf& escape() noexcept { return escape_; }
  /// The message of the failure that led to escape(); "" where there was none.
  std::string take_failure();

  void run(const sw_range& range, sw_block_function block, sw_thread_function thread,
           const void* arguments);

  // What threads call while run() lasts; `line` is in the user's source.
  /// A plain barrier. All of the way that is gone in a steady ring of threads is here.
  void barrier(int line) {
    const std::uint32_t generation = generation_;
    if (arrived_ == 0) begin_barrier(sw_barrier_plain, line);
    if (barrier_line_ != line || barrier_op_ != sw_barrier_plain) [[unlikely]]
      fail_divergence(sw_barrier_plain, line);
    if (++arrived_ == live_) return release_barrier();
    Thread& mine = threads_[current_];
    mine.state = generation;
    const unsigned next = after(current_);
    Thread& other = threads_[next];
    // Neither at this barrier nor in any special state: it waited for an earlier one.
    if (other.state < first_generation || other.state == generation || careful_) return wait();
    go_on_with(mine, next, other);
  }
  /// `op` is a sw_barrier_op; the result is the block's count, and, or of the predicates.
  int barrier_vote(int op, int predicate, int line);
  /// A collective of the lanes in `mask`; returns what it gives the calling lane.
  std::uint64_t warp(int op, unsigned mask, std::uint64_t value, int lane, int width, int line);
  unsigned active_mask(int line);
  /// Kernels of unknown depth that are run from here on may use so much of the calling thread's
  /// stack.
  void limit_own_stack() const;
  /// Leaves the kernel of a thread that has used up its stack.
  [[noreturn]] void fail_stack(const sw_extent& block, const sw_extent& thread);
  /// Leaves the kernel with message(), from wherever it is. The frames of the kernel are left as
  /// they stand: it is compiled without exceptions, and device code owns nothing. What the message
  /// is made of is gone before, since nobody destroys what is left behind on that stack.
  template <class Message>
  [[noreturn]] void fail(const Message& message) {
    failure_ = message();
    abandon();
  }

 private:
  // A thread of the block: where its stack is suspended, and what it waits for.
  struct Thread {
    StackPointer stack;
    std::uint32_t state;
    std::int32_t fiber;
  };
  // States. Any other value is the number of the barrier that the thread waits for; it can go on
  // when that has passed.
  enum : std::uint32_t { unstarted, ready, in_warp, converging, ended, first_generation };
  struct SuspendedFiber {
    StackPointer stack;
    std::int32_t fiber;
  };

  bool runnable(std::uint32_t state) const noexcept {
    // Not in_warp, converging or ended, and not at the barrier that is being gathered.
    return state - in_warp > ended - in_warp && state != generation_;
  }
  unsigned after(unsigned thread) const noexcept {
    const unsigned next = thread + step_;
    return next >= count_ ? next - count_ : next;
  }

  // Suspends the running thread `mine` and resumes `other`, which is suspended.
  void go_on_with(Thread& mine, unsigned next, Thread& other) {
    current_ = next;
    prefetch_stack(threads_[after(next)].stack);
    watch_.switch_to(&mine.stack, other.stack, other.fiber);
    if (aborting_) [[unlikely]]
      abandon();
  }
  // Of the one that comes next: its lines are on the way while another runs.
  static void prefetch_stack(StackPointer stack) noexcept {
    const auto* top = static_cast<const std::byte*>(stack);
    __builtin_prefetch(top);
    __builtin_prefetch(top + 64);
    __builtin_prefetch(top + 128);
  }

  void prepare_block_shape(const sw_extent& block);
  void start_block();
  bool next_block();
  static void fiber_entry(void* runner);
  void work(std::int32_t fiber);
  void end_thread();
  SuspendedFiber take_fiber();
  void park_and_go(std::int32_t fiber, unsigned next);

  void begin_barrier(int op, int line);
  void release_barrier();
  void wait();
  void wait_in_warp();
  void leave_for(unsigned next);
  unsigned find_runnable() const;
  unsigned find_runnable_or_resolve();
  bool release_converged();
  Warp::Group& join_group(Warp& warp, int op, unsigned mask, int line);
  static bool complete(const Warp& warp, const Warp::Group& group);
  void deliver(unsigned warp, Warp::Group& group);
  void release_warps_after_end(unsigned thread);

  [[noreturn]] void abandon();
  [[noreturn]] void fail_divergence(int op, int line);
  [[noreturn]] void fail_standstill();
  [[noreturn]] void fail_hidden(const char* what, int line);
  std::string place(unsigned thread) const;
  std::string waiting_for(unsigned thread) const;
  std::string divergence(int op, int line) const;
  std::string standstill() const;
  void forget_fibers();
  void check_stacks();
  void check_stack(std::int32_t fiber);
  std::string stack_message(std::int32_t fiber) const;
  void go_to(StackPointer* from, StackPointer to, std::int32_t fiber);

  static constexpr unsigned nobody = ~0u;

  // Read or written at every barrier.
  unsigned current_ = 0;           // the running thread
  unsigned count_ = 0;             // threads in a block
  unsigned first_ = 0, step_ = 1;  // each next thread is `step_` further, round the block
  unsigned arrived_ = 0, live_ = 0;
  std::uint32_t generation_ = first_generation;
  int barrier_op_ = 0, barrier_line_ = 0;
  bool aborting_ = false, done_ = false, running_ = false, reverse_ = false;
  bool careful_ = false;  // each wait looks at the stack first
  std::array<Thread, 1024> threads_{};

  // Of the barrier being gathered, and of the one before, whose results are still being read.
  int votes_ = 0;
  int results_[2] = {};
  std::array<Posted, 1024> posted_{};
  std::array<Warp, 32> warps_{};

  const sw_range* range_ = nullptr;
  sw_block_function enter_block_ = nullptr;
  sw_thread_function run_thread_ = nullptr;
  const void* arguments_ = nullptr;
  std::uint64_t block_ = 0;
  sw_extent block_index_{};
  sw_extent shape_{};
  std::uint64_t shuffle_ = 0;
  std::vector<sw_extent> coordinates_;

  FiberStacks stacks_;
  FiberWatch watch_;
  int fibers_ = 0;          // on stacks_, numbered from 1
  int checked_stacks_ = 0;  // next to be looked at by check_stacks()
  std::vector<SuspendedFiber> parked_;
  std::jmp_buf escape_;
  std::string failure_;
};

}  // namespace spanwise::host
