// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "parse/kernel_source.hpp"

namespace spanwise::cpu_backend {

/// A kernel's body in which functions that wait are their statements, and groups of
/// cooperative_groups are the calls of CUDA that they stand for.
struct InlinedBody {
  std::vector<parse::Token> tokens;  ///< those of the source, then those of the body
  std::size_t begin = 0, end = 0;    ///< of the body, without its braces
  std::deque<std::string> texts;     ///< of tokens that the source does not have
};

/// Inlines the functions of the body tokens [begin, end), '{' to '}', that reach a barrier or a
/// call of a warp, with unique names for their parameters and variables. Nothing if there is none,
/// or where it cannot be done: functions that return early, whose types are not known from their
/// declarations, or that are called under a condition within an expression.
std::optional<InlinedBody> inline_waiting_functions(const parse::SourceScan& scan,
                                                    const parse::KernelSite& site,
                                                    std::size_t begin, std::size_t end);

}  // namespace spanwise::cpu_backend
