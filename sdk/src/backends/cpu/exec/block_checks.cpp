// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Checks of BlockRunner at barriers and collectives of checked kernels (config kernel_check).

#include "backends/cpu/exec/block_runner.hpp"
#include "backends/cpu/exec/stack_limit.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cpu_backend {

void BlockRunner::start_check() {
  returned_.reset();
  passed_end_.reset();
  const auto own = own_stack();  // local variables of threads on fiber 0
  check_->ignore(own.data(), own.data() + own.size());
  fail_unless(check_->start_block(block_, count_));
}

// A thread that leaves the kernel by a return statement counts as arrived. A thread that reaches
// the end of the kernel has skipped the barrier at which others wait.
void BlockRunner::check_barrier() {
  fail_unless(check_->barrier());
  if (arrived_ == 0 || passed_end_.none()) return;
  unsigned passed = 0, waiting = 0;
  while (!passed_end_.test(passed)) ++passed;
  while (waiting < count_ && threads_[waiting].state != generation_) ++waiting;
  if (waiting == count_) waiting = current_;  // the last to arrive
  fail([&] {
    return text("divergent barrier: ", thread_label(passed), " has ended without the ",
                awaited_call(waiting), " that ", thread_label(waiting),
                " has reached. Every thread of a block that has not returned must reach the same "
                "barrier; move it out of the condition");
  });
}

void BlockRunner::check_collective(unsigned warp, const Warp::Group& group) {
  fail_unless(check_->collective(warp, group.arrived));
  const unsigned first = warp * 32;
  for_each_lane(group.mask & ~group.arrived, [&](unsigned lane) {
    const unsigned thread = first + lane;
    if (thread >= count_ || !passed_end_.test(thread)) return;
    fail([&] {
      return text("wrong mask: ", thread_label(thread), " has ended without the ",
                  warp_op_name(group.op), " in line ", group.line, " whose mask ",
                  mask_text(group.mask),
                  " names it. Every lane of a mask that has not returned must make the call; use "
                  "__ballot_sync() for the mask of a condition");
    });
  });
  for_each_lane(group.arrived, [&](unsigned lane) {
    const unsigned source = source_lane_of(group, lane, calls_[first + lane]);
    if ((group.arrived >> source & 1u) != 0) return;
    check_->suspect({text(thread_label(first + lane), " reads lane ", source, " by ",
                          warp_op_name(group.op), " in line ", calls_[first + lane].line,
                          ", which does not take part in it (mask ", mask_text(group.mask), ")"),
                     nullptr, nullptr, "name in the mask every lane that is read"});
  });
}

}  // namespace spanwise::cpu_backend
