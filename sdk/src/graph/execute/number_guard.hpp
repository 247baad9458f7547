// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "graph/execute/program.hpp"
#include "spanwise/graph/function.hpp"

// The checks of mode "nan_guard" (Theano's NanGuardMode, theano/compile/nanguardmode.py).
namespace spanwise::graph {

/// Throws GraphError where an input of the step that no step computes has a number that `errors`
/// names. `producers`: per input the position of the step that computes it, or -1.
void check_leaves(const Step& step, const std::vector<int>& producers, const NanGuard& errors);

/// "x: from 0 to 1; y: 2 NaN, others from -1 to 3": the numbers in the input cells.
std::string ranges_of_inputs(const Step& step);

/// Throws GraphError where an output of the step has a number that `errors` names. Needs
/// `ranges` of inputs that the step overwrites, taken before it ran; else "".
void check_outputs(const Step& step, const NanGuard& errors, const std::string& ranges);

}  // namespace spanwise::graph
