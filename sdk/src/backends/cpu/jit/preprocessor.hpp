// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "parse/compiler_options.hpp"
#include "parse/kernel_source.hpp"
#include "parse/line_map.hpp"

namespace spanwise::cpu_backend {

/// A source as the compiler reads it: macros are expanded, conditions are decided, and the user's
/// headers are in the places of their #include directives. CUDA's specifiers, and directives that
/// include headers of the system or of the shim, are still there.
struct PreprocessedSource {
  std::string text;
  parse::LineMap lines;
  /// The text is the source's own, which has nothing for the preprocessor to do but to replace
  /// names by constants: the compiler does that, and needs the directives of the options.
  bool is_unchanged = false;
  /// The preprocessor's output where it failed; "" otherwise.
  std::string log{};
};

/// Runs the preprocessor of `compiler`, a program and its options.
PreprocessedSource preprocess(const parse::KernelSource& source, const parse::HostOptions& options,
                              const std::vector<std::string>& compiler);

}  // namespace spanwise::cpu_backend
