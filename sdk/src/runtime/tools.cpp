// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/tools.hpp"

#include <utility>

#include "runtime/backend.hpp"

namespace spanwise {

std::vector<Tool> tools() {
  std::vector<Tool> all;
  for (const DeviceKind kind : {DeviceKind::cuda, DeviceKind::cpu}) {
    runtime::Backend* backend = runtime::find_backend(kind);
    if (backend == nullptr) continue;
    for (Tool& tool : backend->tools()) all.push_back(std::move(tool));
  }
  return all;
}

}  // namespace spanwise
