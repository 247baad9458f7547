// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "../fused/program.hpp"
#include "spanwise/graph/elementwise.hpp"
#include "spanwise/graph/op.hpp"

namespace spanwise::ops {

/// The nodes that one op replaces, the variables that they read, and those of their outputs that
/// the op computes.
struct FusedNodes {
  std::vector<Ref<Apply>> nodes;  ///< in topological order
  std::vector<Variable> inputs, outputs;
};

/// A condition of running a program: extent `axis` of its outputs is the value of input `input`, or
/// `fixed` if that is -1.
struct RequiredExtent {
  int axis = 0, input = -1;
  std::int64_t fixed = 0;

  friend bool operator==(const RequiredExtent&, const RequiredExtent&) = default;
};

/// A program as an op of graphs, which replaces `nodes` and has their inputs and outputs. Where
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

/// The immutable part of a fused op, which its thunks share. If there are no nodes, the program is
/// one operation on its inputs.
struct Fused {
  ElementProgram program;
  std::vector<RequiredExtent> required;
  FusedNodes nodes;
};

/// The program and nodes of a fused op; null for other ops, and for variants that overwrite an
/// input.
const Fused* fused_of(const Op& op);

/// The computation of one node of a fused op.
std::unique_ptr<Thunk> fused_thunk(std::shared_ptr<const Fused> fused, const Overwrites& overwrites,
                                   const ThunkContext& context);
/// The elements of the output of a node that has one.
std::unique_ptr<ElementSource> fused_elements(std::shared_ptr<const Fused> fused,
                                              const ThunkContext& context);

/// An op and the variables to apply it to.
struct OpAndInputs {
  Ref<const Op> op;
  std::vector<Variable> inputs;  ///< each once
};

/// A fused op of `node` alone; a null op if the rewrite "fuse" does not take the node, or its
/// result is an input.
OpAndInputs fuse_alone(const Ref<Apply>& node);

/// The fused op of `nodes`.
Ref<const Op> fuse_nodes(const FusedNodes& nodes);

}  // namespace spanwise::ops
