// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "runtime/backend.hpp"

namespace spanwise::cpu_backend {

/// Backend::compiler_fingerprint for the CPU. The first line identifies the compiler by path, size
/// and mtime, without running it. The following lines do not depend on the compiler: the processor,
/// the shim, Spanwise's own options, and the settings that affect the code.
std::string jit_fingerprint();

/// Compiles a request to a shared object with the system's compiler. Throws CompileError,
/// ArgumentError for an unknown option, DeviceError if there is no compiler.
runtime::KernelBinary jit_compile(const runtime::CompileRequest& request);

}  // namespace spanwise::cpu_backend
