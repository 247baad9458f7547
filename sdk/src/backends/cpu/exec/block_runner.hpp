// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/exec/access_check.hpp"
#include "backends/cpu/exec/fault_trap.hpp"
#include "backends/cpu/exec/fibers.hpp"

namespace spanwise::cpu_backend {

/// An order of the indices 0 .. count - 1: `first`, then each index plus `step`, modulo `count`.
struct IndexOrder {
  std::uint64_t first = 0, step = 1;
};
/// Ascending; descending with `reverse`; or, for a `seed` other than 0 and more than two indices,
/// pseudo-random: a step coprime to `count` visits each index once. `count` is not 0.
IndexOrder index_order(std::uint64_t count, bool reverse, std::uint64_t seed);

/// A lane's arguments of a collective, and its result.
struct LaneCall {
  std::uint64_t value = 0;  ///< the bits of the lane's value
  std::uint64_t result = 0;
  int lane = 0, width = 32;  ///< arguments of a shuffle
  int line = 0;              ///< source line of the call
};

/// The collectives in progress in one warp. Groups with disjoint masks may be in progress at the
/// same time.
struct Warp {
  struct Group {
    unsigned mask = 0;     // lanes in the mask
    unsigned arrived = 0;  // lanes that have called
    int op = 0;
    int line = 0;  // source line of the first call
  };
  unsigned alive = 0;  // lanes that exist and have not ended
  int group_count = 0;
  Group groups[32];
};

/// Runs blocks one after the other in one host thread, the worker. The threads of a block may wait
/// for one another.
///
/// A thread starts as a plain call on a free stack. If it waits, its stack is suspended and the
/// next thread gets another one. When a thread ends, its stack runs the next thread that has not
/// started, of this block or the next, so that a barrier costs one switch per thread, and so does
/// the end of a block. A stack for which no thread is left is parked until it is needed again. The
/// stacks are numbered as fibers: fiber 0 is the worker's KernelStack, the others are on stacks_.
///
/// As on a GPU since compute capability 7.0, threads that have ended count as arrived at every
/// barrier and collective. Threads that wait at different barriers, or for one another in a cycle,
/// are an error.
class BlockRunner {
 public:
  /// Makes each thread's stack at least this long. Throws OutOfMemoryError.
  void reserve_stack(std::size_t bytes);
  /// The order of threads: ascending or descending, or, for a `seed` other than 0, pseudo-random.
  void set_thread_order(bool reverse, std::uint64_t seed) noexcept {
    reverse_ = reverse;
    shuffle_seed_ = seed;
  }
  /// Checks the accesses and the barriers of the next runs; null for no checks.
  void set_check(AccessCheck* check) noexcept { check_ = check; }
  /// The target of fail(): call setjmp on it before run(), on the stack that calls the KernelStack.
  std::jmp_buf& escape() noexcept { return escape_; }
  /// The message of the failure that led to escape(), "" if there was none; makes the runner usable
  /// again.
  std::string take_failure();
  /// The exception that ended the last run, which no message describes; null if there was none.
  std::exception_ptr take_exception() noexcept { return std::exchange(exception_, nullptr); }
  void set_exception(std::exception_ptr exception) noexcept { exception_ = std::move(exception); }
  /// While true, printf() prints nothing.
  void set_silent(bool silent) noexcept { is_silent_ = silent; }
  /// Makes the runner usable again after a signal has ended run().
  void reset_after_signal() {
    is_aborting_ = running_;
    take_failure();
  }
  /// Whether run() is active, and its current thread: "thread (1, 0, 0) of block (0, 0, 0)".
  bool is_running() const noexcept { return running_; }
  std::string running_thread() const { return thread_label(current_); }

  /// sw_runtime::run_blocks.
  void run(const sw_range& range, sw_block_function block, sw_thread_function thread,
           const void* arguments);

  // Functions of sw_runtime, called by threads during run(); `line` is in the user's source.
  /// __syncthreads(). The fast path, in which threads run in turn, is inline.
  void barrier(int line) {
    const std::uint32_t generation = generation_;
    if (arrived_ == 0) begin_barrier(sw_barrier_plain, line);
    if (barrier_line_ != line || barrier_op_ != sw_barrier_plain) [[unlikely]]
      fail_divergence(sw_barrier_plain, line);
    if (++arrived_ == live_) return release_barrier();
    Thread& self = threads_[current_];
    self.state = generation;
    const unsigned next = after(current_);
    Thread& target = threads_[next];
    // The fast paths need a thread that waits for an earlier barrier or has not started, and no
    // stack checks.
    if (checks_stacks_) return wait();
    if (target.state == unstarted && !parked_.empty()) return start(self, next, target);
    if (target.state < first_generation || target.state == generation) return wait();
    resume(self, next, target);
  }
  /// A barrier that combines predicates. `op` is a sw_barrier_op; returns the count, and, or of the
  /// block's predicates.
  int barrier_vote(int op, int predicate, int line);
  /// Waits while `word`, which another thread of the block changes, is `value`.
  void watch(const unsigned* word, unsigned value, int line);
  /// PTX's bar.sync and bar.arrive with a number of threads; a thread that does not wait only
  /// counts as arrived.
  void named_barrier(unsigned id, unsigned count, int waits, int line);
  /// A collective of the lanes in `mask`; returns the calling lane's result.
  unsigned long long warp(int op, unsigned mask, unsigned long long value, int lane, int width,
                          int line);
  unsigned active_mask(int line);
  void step(const void* code);
  // Of checked kernels.
  void access(const void* address, unsigned long long bytes, int kind, const void* code) {
    FaultTrap::poll();
    const int fiber = threads_[current_].fiber;
    const bool is_local = fiber > 0 && stacks_.contains(fiber - 1, address);
    if (check_ != nullptr && running_ && !is_local)
      fail_unless(
          check_->access(current_, reinterpret_cast<std::uintptr_t>(address), bytes, kind, code));
  }
  void fence() {
    if (check_ != nullptr && running_) fail_unless(check_->fence(current_));
  }
  void returns() { returned_.set(current_); }
  /// Sets the stack limit for kernels of unknown stack depth that run on the calling thread's own
  /// stack.
  void limit_own_stack() const;
  /// malloc() and free(): false for an address that malloc() has not returned, or that is freed.
  void* allocate(std::size_t bytes);
  bool release(void* address);
  /// printf(); `arguments` is a va_list.
  int print(const char* format, std::va_list& arguments);
  /// Fails the kernel because a thread has exceeded its stack.
  [[noreturn]] void fail_stack(const sw_extent& block, const sw_extent& thread);
  /// Leaves the kernel with the error message(), from any stack. The kernel's frames are not
  /// unwound: it is compiled without exceptions, and device code owns no resources. message() must
  /// return before the jump and leave no objects behind, because destructors of abandoned frames do
  /// not run.
  template <class Message>
  [[noreturn]] void fail(const Message& message) {
    try {
      failure_ = message();
    } catch (...) {
      exception_ = std::current_exception();
    }
    leave_kernel();
  }

 private:
  // A thread of the block: its suspended stack, its state, and the fiber that it runs on.
  struct Thread {
    StackPointer stack;
    std::uint32_t state;
    std::int32_t fiber;
  };
  // States. A value from first_generation on is the number of the barrier that the thread waits
  // for; the thread is runnable once the barrier has been released. A thread is `converging` while
  // it waits at __activemask(), `stepping` while it waits in step(), and `watching` while it waits
  // for a word to change.
  enum : std::uint32_t {
    unstarted,
    ready,
    in_collective,
    converging,
    stepping,
    watching,
    ended,
    first_generation
  };
  struct NamedBarrier {
    unsigned expected = 0, arrived = 0;
    std::bitset<1024> waiting;
  };
  struct SuspendedFiber {
    StackPointer stack;
    std::int32_t fiber;
  };

  bool is_runnable(std::uint32_t state) const noexcept {
    // Not in_collective, converging, stepping, watching or ended, and not waiting for the current
    // barrier.
    return state - in_collective > ended - in_collective && state != generation_;
  }
  unsigned after(unsigned thread) const noexcept {
    const unsigned next = thread + step_;
    return next >= count_ ? next - count_ : next;
  }

  // Suspends the running thread `self` and resumes thread `next`, `target`, which is suspended.
  void resume(Thread& self, unsigned next, Thread& target) {
    current_ = next;
    prefetch_stack(threads_[after(next)].stack);
    watch_.switch_to(&self.stack, target.stack, target.fiber);
    if (is_aborting_) [[unlikely]]
      leave_kernel();
  }
  // Suspends the running thread `self` and starts thread `next`, `target`, on the stack that was
  // parked last. Inline because each function between the kernel and the switch adds a frame to a
  // cold stack.
  void start(Thread& self, unsigned next, Thread& target) {
    const SuspendedFiber fiber = parked_.back();
    parked_.pop_back();
    if (!parked_.empty()) prefetch_stack(parked_.back().stack);
    current_ = next;
    target.state = ready;
    target.fiber = fiber.fiber;
    watch_.switch_to(&self.stack, fiber.stack, fiber.fiber);
    if (is_aborting_) [[unlikely]]
      leave_kernel();
  }
  // Prefetches the top of the stack that is resumed after the next one.
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
  void run_threads(std::int32_t fiber);
  void end_thread();
  SuspendedFiber take_fiber();
  void park_and_resume(std::int32_t fiber, unsigned next);

  void begin_barrier(int op, int line);
  void release_barrier();
  void wait();
  void wait_in_collective();
  void suspend_for(unsigned next);
  unsigned find_runnable() const;
  // The thread to run next. Fails the kernel if no thread can run.
  unsigned next_runnable() {
    const unsigned next = after(current_);
    return is_runnable(threads_[next].state) ? next : search_runnable();
  }
  unsigned search_runnable();
  bool try_release_converged();
  unsigned runnable_lane() const;
  bool release_step(unsigned warp);
  Warp::Group& join_group(Warp& warp, int op, unsigned mask, int line);
  static bool is_complete(const Warp& warp, const Warp::Group& group);
  void complete_group(unsigned warp, Warp::Group& group);
  void release_groups(unsigned warp);

  void fail_unless(bool passed) {
    if (!passed) fail([&] { return check_->finding().text; });
  }
  void check_barrier();
  void check_collective(unsigned warp, const Warp::Group& group);
  void start_check();
  [[noreturn]] void leave_kernel();
  [[noreturn]] void fail_divergence(int op, int line);
  [[noreturn]] void fail_deadlock();
  [[noreturn]] void fail_undetected(const char* call, int line);
  std::string thread_label(unsigned thread) const;
  std::string awaited_call(unsigned thread) const;
  void reset_fibers();
  void check_stacks();
  void check_stack(std::int32_t fiber);
  std::string stack_message(std::int32_t fiber) const;
  void switch_to_fiber(StackPointer* from, StackPointer to, std::int32_t fiber);

  static constexpr unsigned no_thread = ~0u;

  // Read or written at every barrier.
  unsigned current_ = 0;             // the running thread
  unsigned count_ = 0;               // threads in a block
  unsigned first_ = 0, step_ = 1;    // thread t is followed by t + step_, modulo count_
  unsigned arrived_ = 0, live_ = 0;  // threads at the barrier, and those that have not ended
  std::uint32_t generation_ = first_generation;  // number of the current barrier
  int barrier_op_ = 0, barrier_line_ = 0;
  bool is_aborting_ = false, done_ = false, running_ = false, reverse_ = false;
  bool checks_stacks_ = false;  // stacks are of unknown depth: each wait checks the stack first
  std::array<Thread, 1024> threads_{};

  // Of barriers that combine predicates: the sum of the predicates, and the results of the current
  // and the previous barrier, by the last bit of their numbers; threads may still read the
  // previous.
  int votes_ = 0;
  int results_[2] = {};
  std::array<LaneCall, 1024> calls_{};
  std::array<Warp, 32> warps_{};
  std::array<NamedBarrier, 16> named_{};
  std::array<std::uintptr_t, 1024> steps_{};  // the place where a thread waits in step()

  const sw_range* range_ = nullptr;
  sw_block_function enter_block_ = nullptr;
  sw_thread_function run_thread_ = nullptr;
  const void* arguments_ = nullptr;
  std::uint64_t block_ = 0;
  sw_extent block_index_{};
  sw_extent shape_{};
  std::uint64_t shuffle_seed_ = 0;
  std::vector<sw_extent> coordinates_;  // of the threads of a block

  AccessCheck* check_ = nullptr;
  // Threads that ended by a return statement, and those that ended without one.
  std::bitset<1024> returned_, passed_end_;
  FiberStacks stacks_;
  FiberWatch watch_;
  int fibers_ = 0;                      // on stacks_, numbered from 1
  int last_checked_stack_ = 0;          // by check_stacks()
  std::vector<SuspendedFiber> parked_;  // they run no thread
  std::jmp_buf escape_;
  std::string failure_;
  std::exception_ptr exception_;
  bool is_silent_ = false;
};

/// The functions that modules call; `worker` in each is a BlockRunner.
const sw_runtime& runtime_table();

}  // namespace spanwise::cpu_backend
