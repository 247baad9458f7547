// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/cpu/jit/preprocessor.hpp"
#include "parse/compiler_options.hpp"
#include "runtime/backend.hpp"

namespace spanwise::cpu_backend {

using parse::HostOptions;

/// A source, translated to C++ for the host compiler.
struct TranslationUnit {
  std::string text;
  /// Texts to compile before `text`: each selects parts of the shim. They are tried in this order
  /// until one compiles.
  std::vector<std::string> heads;
};

/// A request's sources, translated to C++, to be compiled to one library.
struct Translation {
  std::vector<TranslationUnit> units;
  std::map<std::string, std::string> symbols;  ///< KernelBinary::symbols
  std::vector<std::string> kernel_names;       ///< unqualified, of all kernels
  bool recurses = false;                       ///< a kernel reaches a function that calls itself
  bool prints = false;                         ///< uses printf
  bool checked = false;                        ///< compiled with runtime::check_option
  bool in_step = false;                        ///< the lanes of a warp run in step
  /// Some kernels also have a form that is split at barriers, under #ifdef SW_SPLIT_KERNELS.
  bool splits = false;
  /// Kernels with a barrier that have no such form: their threads are fibers.
  std::vector<std::string> fibers;
  std::set<std::string> left_out;  ///< included headers that are left out
  /// Of each function sw_refused_<n>, whose calls are errors where they are compiled: the message.
  std::vector<std::string> refusals;
  std::size_t removed = 0;  ///< failures for which code was removed that no kernel reaches
  std::string cccl;         ///< the folder of CCCL's headers, if a source includes some
};

/// Whether a head includes the headers of the C and C++ libraries of the system, in place of the
/// shim's replacements.
bool is_system_head(std::string_view head);
/// Whether a system head also includes headers of CCCL, which are in Translation::cccl.
bool is_cccl_head(std::string_view head);

/// The symbol of a source's sw_module in the library.
std::string module_info_name(std::size_t unit);

/// What the compiler reported an error of: a line of a file, or an undefined name.
struct Failure {
  std::string name;  ///< of the file, or undefined
  int line = 0;      ///< 0 for an undefined name
  friend auto operator<=>(const Failure&, const Failure&) = default;
};

/// How the threads of a block run.
struct ThreadOrder {
  bool reverse = false;  ///< in descending order
  bool in_step = false;  ///< the lanes of a warp in step, even where no source seems to rely on it
  bool splits = false;   ///< as loops between barriers where possible
};

/// `texts` are the sources of the request in turn. Code with `failures` that no kernel reaches is
/// left out. Throws CompileError, with the line in the source, for constructs that the CPU does not
/// support and that a kernel reaches.
Translation translate(const runtime::CompileRequest& request, const HostOptions& options,
                      const std::vector<PreprocessedSource>& texts,
                      const std::set<Failure>& failures, ThreadOrder order);

}  // namespace spanwise::cpu_backend
