// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace spanwise::cpu_backend {

/// The path of a program, searched in PATH like a shell does; "" if it is not found.
std::string find_program(const std::string& name);

struct ProcessLimits {
  std::chrono::seconds time{0};  ///< 0: none
  std::size_t output_bytes = 0;  ///< output beyond this is read and discarded
};

/// config "compile_timeout_s" and "compile_output_kb".
ProcessLimits process_limits();

struct ProcessResult {
  int exit_code = 0;       ///< -1 if a signal ended it
  std::string output;      ///< stdout and stderr together, with a note if it was cut
  bool timed_out = false;  ///< killed at the time limit
};

/// Runs a program without a shell and waits until it has ended, with LC_ALL=C and `folder` as its
/// TMPDIR. The program leads a new process group, which is killed at the time limit and when
/// check_interrupt() throws. Programs that it leaves running in the background are not waited for.
/// Throws DeviceError if it cannot be started, and what check_interrupt() throws.
ProcessResult run_process(const std::vector<std::string>& command, const std::string& folder,
                          const ProcessLimits& limits = process_limits());

}  // namespace spanwise::cpu_backend
