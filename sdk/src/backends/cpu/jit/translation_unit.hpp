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

/// A kernel source as C++ that the host compiler takes.
struct TranslationUnit {
  std::string text;
  /// Defines that choose the shim's parts, to stand in front of the text; all_parts() where these
  /// turn out to be too few.
  std::string parts;
  /// User's headers that had to be rewritten too: name in the compiler's folder, contents.
  std::vector<std::pair<std::string, std::string>> headers;
  std::map<std::string, std::string> symbols;  ///< KernelBinary::symbols
  std::vector<std::string> kernel_names;       ///< plain, of all kernels
  bool recurses = false;
  bool prints = false;
  bool checked = false;  ///< compiled with runtime::check_option
};

/// The parts that always suffice.
std::string all_parts();

/// Throws CompileError, with the source's line, for what no CPU has.
TranslationUnit make_translation_unit(const runtime::CompileRequest& request,
                                      const HostOptions& options, bool reverse);

}  // namespace spanwise::host
