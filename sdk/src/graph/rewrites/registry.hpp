// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "spanwise/graph/function.hpp"
#include "spanwise/graph/rewrite.hpp"

namespace spanwise::graph {

/// `given`, or what config says, by one of the three names. Throws ArgumentError.
std::string mode_name(const std::string& given);
/// Runs the rewrites of `mode` on `graph` and says what they did. Stops early, with a warning, when
/// config "rewrite_seconds" are over.
std::vector<RewriteReport> run_rewrites(const std::string& function_name, const Mode& mode,
                                        RewriteGraph& graph);

}  // namespace spanwise::graph
