// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/tools.hpp"

#include "backends/cuda/nvrtc.hpp"
#include "spanwise/error.hpp"

namespace spanwise::cuda {

std::vector<Tool> tools() {
  Tool tool{.name = "NVRTC", .version = {}, .path = {}, .missing = {}};
  try {
    const nvrtc::Library& library = nvrtc::library();
    tool.version = text(library.major, ".", library.minor);
    tool.path = library.path.string();
  } catch (const DeviceError& error) {
    tool.missing = error.what();
  }
  return {tool};
}

}  // namespace spanwise::cuda
