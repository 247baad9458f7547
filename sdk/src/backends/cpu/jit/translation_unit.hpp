// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/jit/options.hpp"
#include "runtime/backend.hpp"

namespace spanwise::host {

/// A source, translated to C++ for the host compiler.
struct TranslationUnit {
  std::string text;
  /// Defines that select the shim's parts; they precede the text. If the source does not compile
  /// with them, all_parts() are used.
  std::string parts;
  /// Rewritten headers of the user: name in the compiler's folder, contents.
  std::vector<std::pair<std::string, std::string>> headers;
};

/// A request's sources, translated to C++, to be compiled to one library.
struct Translation {
  std::vector<TranslationUnit> units;
  std::map<std::string, std::string> symbols;  ///< KernelBinary::symbols
  std::vector<std::string> kernel_names;       ///< unqualified, of all kernels
  bool recurses = false;
  bool prints = false;
  bool checked = false;  ///< compiled with runtime::check_option
};

/// The define that selects all parts of the shim.
std::string all_parts();

/// The symbol of a source's sw_module in the library.
std::string module_info_name(std::size_t unit);

/// Throws CompileError, with the line in the source, for constructs that the CPU does not support,
/// and ArgumentError for device code that is already compiled.
Translation translate(const runtime::CompileRequest& request, const HostOptions& options,
                      bool reverse);

}  // namespace spanwise::host
