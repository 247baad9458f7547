// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The error messages of BlockRunner, and how it leaves a failed kernel.
#include <algorithm>
#include <map>
#include <utility>

#include "backends/cpu/exec/block_runner.hpp"
#include "backends/cpu/exec/launch_plan.hpp"
#include "backends/cpu/exec/stack_limit.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cpu_backend {
namespace {

// By sw_barrier_op.
constexpr const char* barrier_names[] = {"__syncthreads()", "__syncthreads_count()",
                                         "__syncthreads_and()", "__syncthreads_or()"};

}  // namespace

// Switches to the worker's own stack first, because longjmp to escape() must stay within one stack.
void BlockRunner::leave_kernel() {
  const bool was_aborting = std::exchange(is_aborting_, running_);
  // NOLINTNEXTLINE(cert-err52-cpp): a kernel is left from any of its functions
  if (!running_ || was_aborting || threads_[current_].fiber == 0) std::longjmp(escape_, 1);
  StackPointer own = nullptr;  // parked, or of a suspended thread
  for (const SuspendedFiber& parked : parked_)
    if (parked.fiber == 0) own = parked.stack;
  for (unsigned t = 0; own == nullptr; ++t)
    if (threads_[t].state != unstarted && threads_[t].state != ended && threads_[t].fiber == 0)
      own = threads_[t].stack;
  StackPointer unused;
  watch_.switch_to(&unused, own, 0);
  std::abort();  // not reached
}

std::string BlockRunner::thread_label(unsigned thread) const {
  return thread_text(coordinates_[thread], block_index_);
}

// "__syncthreads() in line 12".
std::string BlockRunner::awaited_call(unsigned thread) const {
  const LaneCall& call = calls_[thread];
  if (threads_[thread].state == converging) return text("__activemask() in line ", call.line);
  if (threads_[thread].state != in_collective)
    return text(barrier_names[barrier_op_], " in line ", barrier_line_);
  const Warp& warp = warps_[thread / 32];
  for (int i = 0; i < warp.group_count; ++i) {
    const Warp::Group& group = warp.groups[i];
    if ((group.arrived >> thread % 32 & 1u) != 0)
      return text(warp_op_name(group.op), " in line ", call.line, " with the mask ",
                  mask_text(group.mask));
  }
  return "a warp collective";
}

void BlockRunner::fail_divergence(int op, int line) {
  fail([&] {
    unsigned waiting = 0;
    while (threads_[waiting].state != generation_) ++waiting;
    return text("threads of one block are at different barriers: ", thread_label(current_), " at ",
                barrier_names[op], " in line ", line, ", thread ",
                extent_text(coordinates_[waiting]), " at ", awaited_call(waiting),
                ". Every thread of a block that has not returned must reach the same barrier");
  });
}

void BlockRunner::fail_deadlock() {
  fail([&] {
    // Call -> a thread that waits at it, and the number of such threads.
    std::map<std::string, std::pair<unsigned, int>> calls;
    for (unsigned t = 0; t < count_; ++t) {
      if (threads_[t].state == ended || threads_[t].state == unstarted) continue;
      auto& [example, count] = calls.try_emplace(awaited_call(t), t, 0).first->second;
      ++count;
    }
    std::string list;
    for (const auto& [call, threads] : calls)
      list += text(list.empty() ? "" : "; ", thread_label(threads.first), " waits at ", call, " (",
                   threads.second, threads.second == 1 ? " thread)" : " threads)");
    return text("threads of one block wait for one another for ever: ", list,
                ". Every lane of a mask, and every thread of a block, must reach the same call");
  });
}

// The threads of a kernel that has no barrier, as far as its source shows, run as a loop, in which
// they cannot wait.
void BlockRunner::fail_undetected(const char* call, int line) {
  fail([&] {
    return text(
        call, " in line ", line,
        " is reached by a way that the source does not show, such as a name that a macro pastes "
        "together. Call it by its name");
  });
}

// Threads of one kernel need similar amounts of stack, so checking a few is enough.
void BlockRunner::check_stacks() {
  for (int n = std::min(fibers_, 8); n > 0; --n) {
    last_checked_stack_ = last_checked_stack_ % fibers_ + 1;
    check_stack(last_checked_stack_);
  }
}

// The system guards the worker's own stack, fiber 0, by an inaccessible page.
void BlockRunner::check_stack(std::int32_t fiber) {
  if (fiber == 0 || stacks_.is_intact(fiber - 1)) return;
  std::string message = stack_message(fiber);
  if (!running_) reset_fibers();
  fail([&] { return std::move(message); });
}

std::string BlockRunner::stack_message(std::int32_t fiber) const {
  if (fiber == 0)
    return text("a thread used more than the ", own_stack().size(),
                " bytes of its processor's stack. Recurse less deeply, or start the program with a "
                "larger stack (ulimit -s)");
  return text("a thread used more than its ", stacks_.stack_bytes(),
              " bytes of stack. Set config cpu_stack_kb higher, or recurse less deeply");
}

void BlockRunner::fail_stack(const sw_extent& block, const sw_extent& thread) {
  fail([&] {
    return text(stack_message(running_ ? threads_[current_].fiber : 0), ", in ",
                thread_text(thread, block));
  });
}

}  // namespace spanwise::cpu_backend
