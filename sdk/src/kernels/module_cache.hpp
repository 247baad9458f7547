// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "kernels/include_closure.hpp"
#include "kernels/module_state.hpp"
#include "runtime/backend.hpp"
#include "spanwise/core/ref.hpp"
#include "spanwise/kernels/kernel.hpp"

namespace spanwise::kernels {

/// The module for `source`: loaded in this process already, else from the disk cache, else
/// compiled. If several threads request the same module, one builds it and the others wait. Throws
/// CompileError, DeviceError.
Ref<ModuleState> find_or_build(std::string_view source, const ModuleOptions& options);

/// Empties the in-process cache; modules in use stay loaded. For tests of the disk cache.
void forget_loaded_modules();

/// The excerpt of a kernel's source for the message of a compile error: the whole of a short one,
/// else the lines around those that the compiler's log names as "<file>:<line>" or
/// "<file>(<line>)". `numbered` is the source with a line number before each line.
std::string source_excerpt(std::string_view numbered, std::string_view log, std::string_view file);

/// compile(request), with the folder of the library's own headers among its include_dirs where the
/// source includes one of them. CompileErrors get an excerpt of the source.
runtime::KernelBinary compile_with_headers(
    const runtime::CompileRequest& request, const IncludeClosure& includes,
    const std::function<runtime::KernelBinary(const runtime::CompileRequest&)>& compile);

}  // namespace spanwise::kernels
