// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "runtime/backend.hpp"

namespace spanwise::host {

/// Backend::compiler_fingerprint for the CPU. The first line is the compiler's path, size and time
/// of change: its version, found without starting it. The processor, the shim, the options of our
/// own and the settings that change the code follow; they are the same whichever compiler there is.
std::string jit_fingerprint();

/// Compiles a request to a shared object with the system's compiler. Throws CompileError,
/// ArgumentError for an option that it does not know, DeviceError where there is no compiler.
runtime::KernelBinary jit_compile(const runtime::CompileRequest& request);

}  // namespace spanwise::host
