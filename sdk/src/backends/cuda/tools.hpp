// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "spanwise/tools.hpp"

namespace spanwise::cuda {

/// NVRTC, nvJitLink and cuBLAS: version and path, or why one is missing. Loads NVRTC and nvJitLink.
std::vector<Tool> tools();

}  // namespace spanwise::cuda
