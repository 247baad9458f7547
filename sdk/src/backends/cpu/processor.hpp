// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace spanwise::host {

/// "AMD EPYC 9654 96-Core Processor", or the architecture where the system does not say.
std::string processor_name();
/// "x86_64", "aarch64".
std::string processor_architecture();
/// Changes with anything that decides which instructions -march=native chooses.
const std::string& processor_features();

/// Processors that this process may use: its affinity, and the limits of its control groups.
int processor_count();

/// What this process may use: the machine's memory, and the limits of its control groups.
struct SystemMemory {
  std::int64_t available = 0, total = 0;  ///< bytes
};
SystemMemory system_memory();

}  // namespace spanwise::host
