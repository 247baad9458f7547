// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace spanwise::host {

struct ProcessResult {
  int exit_code = 0;   ///< -1 where it was ended by a signal
  std::string output;  ///< stdout and stderr together
};

/// Runs a program without a shell and waits for it, with LC_ALL=C and `folder` as its TMPDIR.
/// Throws DeviceError where it cannot be started.
ProcessResult run_process(const std::vector<std::string>& command, const std::string& folder);

}  // namespace spanwise::host
