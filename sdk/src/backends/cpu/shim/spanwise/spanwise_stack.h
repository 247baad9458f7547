// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// For sources with recursion: the functions that code compiled with -fsplit-stack calls if too
// little stack is left. With split stacks they would allocate another segment; here the launch
// fails. Weak, because each linked source defines them. Without checks, because the functions for
// checks compare the stack limit, too.
extern "C" {
#define SW_WITHOUT_LIMIT                                                                        \
  __attribute__((weak, visibility("hidden"), noreturn, no_split_stack, force_align_arg_pointer, \
                 no_sanitize("thread")))
SW_WITHOUT_LIMIT void __morestack();
// Called for arrays of variable length.
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
