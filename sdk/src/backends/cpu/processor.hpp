// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace spanwise::cpu_backend {

/// "AMD EPYC 9654 96-Core Processor", or the architecture if the system does not report a name.
std::string processor_name();
/// "x86_64", "aarch64".
std::string processor_architecture();
/// A text that changes with everything that affects which instructions -march=native selects.
const std::string& processor_features();

/// Processors that this process may use: its affinity, and the limits of its control groups.
int processor_count();

/// Memory that this process may use: the machine's, limited by its control groups.
struct SystemMemory {
  std::int64_t available = 0, total = 0;  ///< bytes
};
SystemMemory system_memory();

}  // namespace spanwise::cpu_backend
