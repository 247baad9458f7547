// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "kernels/module_state.hpp"
#include "spanwise/kernel.hpp"
#include "spanwise/ref.hpp"

namespace spanwise::kernels {

/// The module for `source`: one that this process has loaded already, else one from the disk cache,
/// else a compiled one. Of several threads that ask for the same, one compiles and the others wait.
/// Throws CompileError, DeviceError.
Ref<ModuleState> find_or_build(std::string_view source, const ModuleOptions& options);

/// Forgets the modules that are loaded; those in use stay so. For tests of the disk cache.
void forget_loaded_modules();

}  // namespace spanwise::kernels
