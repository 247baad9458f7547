// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "spanwise/export.hpp"

namespace spanwise {

/// A program or library of this machine that a back end leans on, for `python -m spanwise doctor`.
struct Tool {
  std::string name;     ///< "NVRTC", "host compiler"
  std::string version;  ///< as it says itself; empty where it is missing
  std::string path;
  std::string missing;  ///< why it cannot be used and what to install; empty where it can be
};

/// What the back ends of this machine lean on. May load libraries and start programs to ask for
/// their versions; never throws for one that is missing.
SW_API std::vector<Tool> tools();

}  // namespace spanwise
