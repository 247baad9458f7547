// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "../fused/program.hpp"
#include "spanwise/graph/element_source.hpp"
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

/// An output that may be computed in the memory of an input.
struct Overwrite {
  int output, input;
  friend bool operator==(const Overwrite&, const Overwrite&) = default;
};
using Overwrites = std::vector<Overwrite>;

/// What the nodes of one op share. Without `nodes` the program is one operation on its inputs.
struct Fused {
  ElementProgram program;
  std::vector<RequiredExtent> required;
  FusedNodes nodes;
};

/// Those of a fused op; null for other ops, and for variants that overwrite an input.
const Fused* fused_of(const Op& op);

/// The computation of one node of a fused op.
std::unique_ptr<Thunk> fused_thunk(std::shared_ptr<const Fused> fused, const Overwrites& overwrites,
                                   const ThunkContext& context);
/// The elements of the one output of a node.
std::unique_ptr<ElementSource> fused_elements(std::shared_ptr<const Fused> fused,
                                              const ThunkContext& context);

/// A fused op and the variables to apply it to.
struct FusedAlone {
  Ref<const Op> op;
  std::vector<Variable> inputs;  ///< each once
};

/// A node of the rewrite "fuse" as a program of its own; a null op for other nodes, and for those
/// whose result is an input.
FusedAlone fused_alone(const Ref<Apply>& node);

/// The fused op for `nodes`.
Ref<const Op> fused(const FusedNodes& nodes);

}  // namespace spanwise::ops
