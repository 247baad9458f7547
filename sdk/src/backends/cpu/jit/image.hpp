// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace spanwise::host {

/// Loads the bytes of a shared object and returns the handle of dlopen(), for dlclose(). The bytes
/// are loaded from memory, so that what is loaded is what was verified, whatever happens to files
/// meanwhile, and folders without permission to execute (noexec) do not matter. Each call loads
/// variables of its own. Throws DeviceError.
void* load_image(std::string_view image);

}  // namespace spanwise::host
