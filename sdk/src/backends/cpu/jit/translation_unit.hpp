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

/// A source as C++ that the host compiler takes.
struct TranslationUnit {
  std::string text;
  /// Defines that choose the shim's parts, to stand in front of the text; all_parts() where these
  /// turn out to be too few.
  std::string parts;
  /// User's headers that had to be rewritten too: name in the compiler's folder, contents.
  std::vector<std::pair<std::string, std::string>> headers;
};

/// A request's sources as C++, to become one library.
struct Translation {
  std::vector<TranslationUnit> units;
  std::map<std::string, std::string> symbols;  ///< KernelBinary::symbols
  std::vector<std::string> kernel_names;       ///< plain, of all kernels
  bool recurses = false;
  bool prints = false;
  bool checked = false;  ///< compiled with runtime::check_option
};

/// The parts that always suffice.
std::string all_parts();

/// The symbol of a source's sw_module in the library.
std::string module_info_name(std::size_t unit);

/// Throws CompileError, with the source's line, for what no CPU has, ArgumentError for device code
/// that is compiled already.
Translation translate(const runtime::CompileRequest& request, const HostOptions& options,
                      bool reverse);

}  // namespace spanwise::host
