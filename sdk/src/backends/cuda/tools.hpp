// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "spanwise/tools.hpp"

namespace spanwise::cuda {

/// NVRTC, as it was found, or why it was not. Loads it.
std::vector<Tool> tools();

}  // namespace spanwise::cuda
