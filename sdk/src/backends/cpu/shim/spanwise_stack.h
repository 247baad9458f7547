// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// For sources that recurse: what functions compiled with -fsplit-stack call where the rest of the
// stack is less than they need. Split stacks get another piece there; here the launch fails.
// Weak, as each of the sources that are linked has them; not checked, as checks are functions that
// compare too.
extern "C" {
#define SW_WITHOUT_LIMIT \
  __attribute__((weak, visibility("hidden"), noreturn, no_split_stack, force_align_arg_pointer, \
                 no_sanitize("kernel-address")))
SW_WITHOUT_LIMIT void __morestack();
// For an array of variable length.
SW_WITHOUT_LIMIT void* __morestack_allocate_stack_space(size_t);
#undef SW_WITHOUT_LIMIT

void __morestack() {
  const sw_extent block{blockIdx.x, blockIdx.y, blockIdx.z};
  const sw_extent thread{threadIdx.x, threadIdx.y, threadIdx.z};
  sw_rt->out_of_stack(sw_worker, &block, &thread);
  __builtin_unreachable();
}
void* __morestack_allocate_stack_space(size_t) { __morestack(); }
}
