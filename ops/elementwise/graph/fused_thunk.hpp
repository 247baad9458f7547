// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "fused_op.hpp"
#include "spanwise/graph/element_source.hpp"

namespace spanwise::ops {

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

}  // namespace spanwise::ops
