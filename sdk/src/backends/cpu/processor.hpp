// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace spanwise::cpu_backend {

/// What Linux control groups (containers, batch systems, systemd) allow this process.
struct ControlGroupLimits {
  struct MemoryLimit {
    std::int64_t limit = 0, available = 0;  ///< bytes; the smallest of all groups
  };
  std::optional<MemoryLimit> memory;  ///< nothing if no limit is set
  std::optional<int> processors;      ///< quota of processor time, in processors, rounded up
};

/// Reads the limits of versions 1 and 2, including those of parent groups. `membership` lists the
/// process's groups, `root` is where their file systems are mounted. Files that cannot be read
/// count as no limit.
ControlGroupLimits control_group_limits(const std::string& membership = "/proc/self/cgroup",
                                        const std::string& root = "/sys/fs/cgroup");

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
