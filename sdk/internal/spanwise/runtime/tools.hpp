// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "spanwise/core/export.hpp"

namespace spanwise {

/// An external program or library that a back end uses, for `python -m spanwise doctor`.
struct Tool {
  std::string name;       ///< "NVRTC", "host compiler"
  std::string version{};  ///< as it reports itself; empty where it is missing
  std::string path{};
  std::string missing{};  ///< why it cannot be used and what to install; empty where it can be used
};

/// The tools that all back ends use. May load libraries and start programs to get their versions;
/// never throws for a missing one.
SW_API std::vector<Tool> tools();

/// Adds the line counts of the loaded kernels to the files in the folder of config cpu_coverage, as
/// the end of the process would. Later calls add nothing.
SW_API void write_coverage();

}  // namespace spanwise
