// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "spanwise/tools.hpp"

namespace spanwise::cpu_backend {

/// The system's C++ compiler and its version, or why it is missing. Runs it to get the version.
std::vector<Tool> tools();

}  // namespace spanwise::cpu_backend
