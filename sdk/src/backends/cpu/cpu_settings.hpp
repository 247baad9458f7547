// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace spanwise::cpu_backend {

/// config "cpu_threads", with 0 resolved to OMP_NUM_THREADS or the number of processors.
int worker_setting();

/// Whether the threads of a block, and the blocks of a grid, run in reverse order: config
/// "cpu_thread_order". A kernel whose result depends on the order lacks a barrier.
bool reverse_order_setting();

/// Whether the lanes of a warp run in step in every kernel: config "cpu_warps".
bool warps_in_step_setting();

/// Whether all kernels with barriers run on fibers: config "cpu_barriers".
bool fibers_setting();

/// Minimum stack, in bytes, of a kernel's thread that waits at barriers: config "cpu_stack_kb", 0
/// by default. Stacks are at least as large as the compiler reports; it cannot report the depth of
/// a recursion.
std::size_t stack_setting();

/// Unused bytes after each block of memory: config "cpu_slack".
std::size_t slack_setting();

/// The value of -fsanitize= for users' kernels, "" for none: config "cpu_sanitize".
std::string sanitize_setting();

/// The folder for line counts of users' kernels, "" for none: config "cpu_coverage".
std::string coverage_setting();

/// Seconds after which a compiler is killed, 0 for never: config "compile_timeout_s".
int compile_timeout_setting();

/// Limit, in bytes, of the compiler output that is kept: config "compile_output_kb".
std::size_t compile_output_setting();

}  // namespace spanwise::cpu_backend
