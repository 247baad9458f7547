// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// What BlockRunner checks at barriers and collectives of checked kernels (config kernel_check).
#include <bit>

#include "backends/cpu/exec/block_runner.hpp"
#include "backends/cpu/exec/stack_limit.hpp"
#include "spanwise/core/text.hpp"

namespace spanwise::cpu_backend {

void BlockRunner::start_check() {
  returned_.reset();
  passed_end_.reset();
  const auto own = own_stack();
  check_->ignore(own.data(), own.data() + own.size());
  require(check_->start_block(block_, count_));
}

// A thread may leave the kernel by a return statement and then counts as arrived. One that ends at
// the end of the kernel has gone past a barrier for which others wait.
void BlockRunner::check_barrier() {
  require(check_->barrier());
  if (arrived_ == 0 || passed_end_.none()) return;
  unsigned skipped = 0, waiting = 0;
  while (!passed_end_.test(skipped)) ++skipped;
  while (waiting < count_ && threads_[waiting].state != generation_) ++waiting;
  if (waiting == count_) waiting = current_;  // the last to arrive
  fail([&] {
    return text("divergent barrier: ", thread_label(skipped), " has ended without the ",
                waiting_for(waiting), " that ", thread_label(waiting),
                " has reached. Every thread of a block that has not returned must reach the same "
                "barrier; move it out of the condition");
  });
}

void BlockRunner::check_collective(unsigned warp, const Warp::Group& group) {
  require(check_->collective(warp, group.arrived));
  const unsigned first = warp * 32;
  for (unsigned lanes = group.mask & ~group.arrived; lanes != 0; lanes &= lanes - 1) {
    const unsigned thread = first + static_cast<unsigned>(std::countr_zero(lanes));
    if (thread >= count_ || !passed_end_.test(thread)) continue;
    fail([&] {
      return text("wrong mask: ", thread_label(thread), " has ended without the ",
                  warp_op_name(group.op), " in line ", group.line, " whose mask ",
                  mask_text(group.mask),
                  " names it. Every lane of a mask that has not returned must make the call; use "
                  "__ballot_sync() for the mask of a condition");
    });
  }
  for (unsigned lanes = group.arrived; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const unsigned source = read_lane(group, lane, posted_[first + lane]);
    if ((group.arrived >> source & 1u) != 0) continue;
    check_->suspect({text(thread_label(first + lane), " reads lane ", source, " by ",
                          warp_op_name(group.op), " in line ", posted_[first + lane].line,
                          ", which does not take part in it (mask ", mask_text(group.mask), ")"),
                     nullptr, nullptr, "name in the mask every lane that is read"});
    return;
  }
}

}  // namespace spanwise::cpu_backend
