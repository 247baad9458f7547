// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace spanwise::runtime {

/// A path for dlopen() of the file `name` in `folder` that no earlier call returned. For a path
/// that it has seen, the loader returns the library already loaded, even if the file has changed.
std::string new_loader_path(std::string folder, const std::string& name);

}  // namespace spanwise::runtime
