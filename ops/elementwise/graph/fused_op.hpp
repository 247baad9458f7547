// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "../fused/program.hpp"
#include "spanwise/graph/op.hpp"

namespace spanwise::ops {

/// What a fused op stands for.
struct FusedNodes {
  std::vector<Ref<Apply>> nodes;  ///< in topological order
  std::vector<Variable> inputs, outputs;
};

/// An extent that the outputs must have for the program to give them: the value of an input, or a
/// fixed number where `input` is -1.
struct RequiredExtent {
  int axis = 0, input = -1;
  std::int64_t fixed = 0;

  friend bool operator==(const RequiredExtent&, const RequiredExtent&) = default;
};

/// A program as an op of graphs, in the place of `nodes`, whose inputs and outputs it has. Where
/// `required` does not hold, or an extent that the types leave open is 1 and is broadcast, the
/// nodes are run one by one. Its name shows the program: "Composite{((i0 * i1) + i2)}".
Ref<const Op> fused_op(ElementProgram program, std::vector<RequiredExtent> required,
                       FusedNodes nodes);

}  // namespace spanwise::ops
