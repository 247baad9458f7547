// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace spanwise::cpu_backend {

/// A request's options, translated for the host compiler.
struct HostOptions {
  /// "#define N 4" and "#undef N", in the order given. They are inserted after the shim, so that a
  /// macro called T cannot break it.
  std::vector<std::string> directives;
  std::vector<std::string> include_dirs;
  std::vector<std::string> pre_includes;
  std::vector<std::string> flags;  ///< passed to the compiler
  std::string language = "-std=c++17";
};

/// Accepts NVRTC's options and nvcc's common ones: -D, -U, -I, -std, --pre-include, -O, -g and
/// -fmad are passed to the host compiler; options that concern only GPU code (architecture, line
/// tables, ptxas, register counts) are ignored. Throws ArgumentError for any other option.
HostOptions translate_options(std::span<const std::string> options,
                              std::span<const std::string> include_dirs);

}  // namespace spanwise::cpu_backend
