// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "spanwise/graph/function.hpp"
#include "spanwise/graph/rewrite.hpp"

namespace spanwise::graph {

/// The canonical name of the mode `name`, or of config "mode" if it is empty. Throws ArgumentError.
std::string mode_name(const std::string& name);
/// Runs the rewrites of `mode` on `graph` and reports them. Stops early, with a warning, after
/// config "rewrite_seconds".
std::vector<RewriteReport> run_rewrites(const std::string& function_name, const Mode& mode,
                                        RewriteGraph& graph);

}  // namespace spanwise::graph
