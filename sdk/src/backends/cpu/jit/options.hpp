// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "parse/option_reader.hpp"

namespace spanwise::cpu_backend {

/// A request's options, translated for the host compiler.
struct HostOptions : parse::PreprocessorOptions {
  std::vector<std::string> flags;  ///< passed to the compiler
  std::string language = "-std=c++17";
};

/// Accepts NVRTC's options and nvcc's common ones: -D, -U, -I, -std, --pre-include, -O, -g and
/// -fmad are passed to the host compiler; options that concern only GPU code (architecture, line
/// tables, ptxas, register counts) are ignored. Throws ArgumentError for any other option.
HostOptions translate_options(std::span<const std::string> options,
                              std::span<const std::string> include_dirs);

}  // namespace spanwise::cpu_backend
