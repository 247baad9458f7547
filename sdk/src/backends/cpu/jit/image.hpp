// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace spanwise::cpu_backend {

/// Loads the bytes of a shared object and returns the handle of dlopen(), for dlclose(). Loads from
/// memory, so that the bytes cannot change after they were verified, and mounts without execute
/// permission (noexec) do not matter. Each call loads its own copy of the variables. Throws
/// DeviceError.
void* load_image(std::string_view image);

}  // namespace spanwise::cpu_backend
