// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace spanwise::host {

/// A request's options in the host compiler's terms.
struct HostOptions {
  /// "#define N 4" and "#undef N", in the order given. They stand behind the shim in the text,
  /// where a macro called T cannot break it.
  std::vector<std::string> directives;
  std::vector<std::string> include_dirs;
  std::vector<std::string> pre_includes;
  std::vector<std::string> flags;  ///< passed on
  std::string language = "-std=c++17";
};

/// Takes NVRTC's options and nvcc's common ones: -D, -U, -I, -std, --pre-include, -O, -g and
/// -fmad reach the host compiler; what only concerns GPU code (architecture, line tables, ptxas,
/// register counts) is dropped. Throws ArgumentError for any other.
HostOptions translate_options(std::span<const std::string> options,
                              std::span<const std::string> include_dirs);

}  // namespace spanwise::host
