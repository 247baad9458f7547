// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "backends/cpu/jit/translation.hpp"
#include "runtime/backend.hpp"
#include "spanwise/runtime/tools.hpp"

namespace spanwise::cpu_backend {

/// Bytes of stack that a thread of any kernel of `module` may need: the largest frame of a kernel,
/// the frames of all functions that it might call, and reserves. `report` is the output of
/// -fstack-usage.
std::size_t stack_need(std::string_view report, const Translation& module);

/// Stores `bytes` in each sw_module of the compiled image, in place of SW_STACK_UNKNOWN. Throws
/// DeviceError if the image has none.
void set_stack_need(std::string& image, std::size_t bytes);

/// The system's C++ compiler and its version, or why it is missing. Runs it to get the version.
Tool compiler_tool();

/// Backend::compiler_fingerprint for the CPU. The first line identifies the compiler by path, size
/// and mtime, without running it. The following lines do not depend on the compiler: the processor,
/// the shim, Spanwise's own options, and the settings that affect the code.
std::string jit_fingerprint();

/// Compiles a request to a shared object with the system's compiler. Throws CompileError,
/// ArgumentError for an unknown option, DeviceError if there is no compiler. `target` is the
/// argument of -march in the place of this processor.
runtime::KernelBinary jit_compile(const runtime::CompileRequest& request,
                                  const std::string& target = {});

/// As Backend::compile_for, for a level of x86-64: "x86-64-v3".
runtime::KernelBinary jit_compile_for(const std::string& target,
                                      const runtime::CompileRequest& request);
/// As Backend::suitability; config "instruction_set" limits the levels.
int cpu_suitability(std::string_view target);

}  // namespace spanwise::cpu_backend
