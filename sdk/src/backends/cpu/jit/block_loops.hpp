// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "parse/kernel_source.hpp"
#include "parse/line_map.hpp"

namespace spanwise::cpu_backend {

/// What splitting a kernel needs to know about the files of a source, besides the kernel.
struct SplitContext {
  /// Macros and their tokens; parameters included.
  std::map<std::string, std::vector<std::string>, std::less<>> macros;
  /// Constants at namespace scope.
  std::set<std::string, std::less<>> constants;
  /// Adds the macros and constants of a file.
  void add(const std::vector<parse::Token>& tokens);
  void add_macro(std::string_view directive);
};

/// A kernel as loops over the threads of a block.
struct SplitKernel {
  std::string definition;       ///< of the function that runs a block, named as requested
  std::set<std::string> calls;  ///< names in the body; none of them may reach a barrier
  /// Conditions on threadIdx.x / 32 stand for warps: the blocks must have one row of threads, or
  /// rows of whole warps.
  bool needs_warp_rows = false;
};

/// Rewrites the kernel with the body tokens [begin, end), '{' to '}', as loops over the threads of
/// a block, one for each part between two barriers, shuffles or votes. Local variables that live
/// across become arrays. A kernel without a barrier gets this form if it has loops that are faster
/// in it. Nothing where the source does not show that all threads of a block reach each barrier
/// together, or where it has constructs that are not understood.
std::optional<SplitKernel> split_at_barriers(const parse::SourceScan& scan,
                                             const parse::KernelSite& site, std::size_t begin,
                                             std::size_t end, const parse::LineMap& lines,
                                             const std::string& name, const SplitContext& context);

}  // namespace spanwise::cpu_backend
