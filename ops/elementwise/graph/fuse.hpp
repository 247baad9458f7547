// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "fused_op.hpp"

namespace spanwise::ops {

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
