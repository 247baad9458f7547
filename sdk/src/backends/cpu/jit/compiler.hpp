// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace spanwise::cpu_backend {

/// The system's C++ compiler.
struct HostCompiler {
  std::string path;                    ///< path of the program
  std::vector<std::string> arguments;  ///< further words of CXX, e.g. of "ccache g++"
  bool is_clang = false;
  /// Path, size and mtime of the program: changes when it is replaced. Determined without running
  /// it.
  std::string identity;
};

/// The compiler that CXX names or, if that is unset or blank, the first of g++ and clang++ in PATH.
/// Only reads the file system.
std::optional<HostCompiler> find_compiler();
/// As find_compiler(). Throws DeviceError naming CXX, or the programs searched and the package to
/// install.
HostCompiler require_compiler();

/// The path of a program, searched in PATH like a shell does; "" if it is not found.
std::string find_program(const std::string& name);

/// Options for every kernel, without the language standard.
std::vector<std::string> base_flags(const HostCompiler& compiler);
/// Options for sources with recursion: functions call the shim (spanwise_stack.h) if too little
/// stack is left.
std::vector<std::string> recursion_flags();
/// Options that make the compiler call the shim (spanwise_check.h) for each memory access.
std::vector<std::string> check_flags(const HostCompiler& compiler);
/// All options above, for every compiler, as a text for fingerprints.
std::string flags_fingerprint();

}  // namespace spanwise::cpu_backend
