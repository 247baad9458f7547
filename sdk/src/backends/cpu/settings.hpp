// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace spanwise::host {

/// config "cpu_threads", with 0 resolved to OMP_NUM_THREADS or the number of processors.
int worker_setting();

/// In which order the threads of a block, and the blocks of a grid, are run: config
/// "cpu_thread_order". A kernel whose result depends on it lacks a barrier.
enum class ThreadOrder { forward, reverse };
ThreadOrder thread_order_setting();

/// Bytes of stack that a waiting thread of a kernel gets at least: config "cpu_stack_kb". What the
/// compiler knows of is added by itself; a recursion's depth it does not know.
std::size_t stack_setting();

/// Unused bytes behind each block of memory: config "cpu_slack".
std::size_t slack_setting();

/// What -fsanitize= is given for users' kernels, "" for nothing: config "cpu_sanitize".
std::string sanitize_setting();

/// Seconds after which a compiler is killed, 0 for never: config "compile_timeout_s".
int compile_timeout_setting();

/// Bytes that are kept of what a compiler writes: config "compile_output_kb".
std::size_t compile_output_setting();

}  // namespace spanwise::host
