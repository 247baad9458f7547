// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "spanwise/tools.hpp"

namespace spanwise::host {

/// The system's C++ compiler, as it was found, or why it was not. Starts it to ask for its version.
std::vector<Tool> tools();

}  // namespace spanwise::host
