// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/tools.hpp"

#include <filesystem>
#include <string>

#include "backends/cpu/jit/compiler.hpp"
#include "backends/cpu/jit/process.hpp"
#include "spanwise/error.hpp"

namespace spanwise::cpu_backend {
namespace {

// The first line of --version: "g++ (Debian 12.2.0-14) 12.2.0", "Debian clang version 14.0.6".
std::string version_of(const HostCompiler& compiler) {
  std::vector<std::string> command{compiler.path};
  command.insert(command.end(), compiler.arguments.begin(), compiler.arguments.end());
  command.push_back("--version");
  std::error_code error;
  const std::string folder = std::filesystem::temp_directory_path(error).string();
  const ProcessResult result = run_process(command, folder);
  const std::string line = result.output.substr(0, result.output.find('\n'));
  if (result.exit_code != 0)
    fail<DeviceError>(compiler.path, " does not run: ", line,
                      "; install it anew, or set CXX to another C++ compiler");
  return line;
}

}  // namespace

std::vector<Tool> tools() {
  Tool tool{.name = "host compiler", .version = {}, .path = {}, .missing = {}};
  try {
    const HostCompiler compiler = require_compiler();
    tool.path = compiler.path;
    tool.version = version_of(compiler);
  } catch (const DeviceError& error) {
    tool.missing = error.what();
  }
  return {tool};
}

}  // namespace spanwise::cpu_backend
