// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace spanwise::runtime {

/// A path of `name` in `folder` for dlopen() that no earlier call returned. The loader takes a path
/// that it has seen for the library that it loaded by it, whatever file is there by now.
std::string new_loader_path(std::string folder, const std::string& name);

}  // namespace spanwise::runtime
