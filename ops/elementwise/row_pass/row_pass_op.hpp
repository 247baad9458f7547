// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../graph/fused_op.hpp"
#include "row_pass.hpp"
#include "spanwise/graph/op.hpp"

namespace spanwise::ops {

/// A row pass as an op of graphs, which replaces `nodes`, whose inputs and outputs are those of the
/// pass. Where RowPassRunner does not accept the inputs, the nodes are run one by one.
Ref<const Op> row_pass_op(RowPass pass, FusedNodes nodes);

/// The pass of such an op; null for other ops.
const RowPass* row_pass_of(const Op& op);

}  // namespace spanwise::ops
