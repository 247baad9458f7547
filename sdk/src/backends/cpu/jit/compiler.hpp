// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace spanwise::host {

/// The system's C++ compiler.
struct HostCompiler {
  std::string path;                    ///< of the program, as it is started
  std::vector<std::string> arguments;  ///< words that follow it in CXX, e.g. of "ccache g++"
  bool is_clang = false;
  /// Path, size and time of the program: changes when it is replaced. Found without starting it.
  std::string identity;
};

/// What CXX names, or, where it is unset or blank, g++ or clang++, the first that can be run. Looks
/// at the file system only.
std::optional<HostCompiler> find_compiler();
/// Throws DeviceError naming CXX, or what was looked for and the package to install.
HostCompiler require_compiler();

/// A program as the shell finds it; "" where it does not.
std::string find_program(const std::string& name);

/// Options that every kernel is compiled with, but for the language level.
std::vector<std::string> base_flags(const HostCompiler& compiler);
/// For sources that recurse: functions that find too little stack call the shim (spanwise_stack.h).
std::vector<std::string> recursion_flags();
/// What makes the compiler call the shim (spanwise_check.h) for each access to memory.
std::vector<std::string> check_flags(const HostCompiler& compiler);
/// All of them, for every compiler: changes whenever one of them does.
std::string flags_fingerprint();

}  // namespace spanwise::host
