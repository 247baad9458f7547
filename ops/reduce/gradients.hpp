// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reduce.hpp"
#include "spanwise/op_sdk.hpp"

namespace spanwise::ops::reduce {

/// spanwise::Op::gradient() of a reduction over `axes` applied at `node`; `output` is the
/// derivative with respect to its output. `correction` is that of var and std.
Cotangent reduction_gradient(Operation op, const Apply& node, const AxisSet& axes, bool keepdims,
                             double correction, const Variable& output);

/// The same of a cumulative sum or product along `axis`.
Cotangent scan_gradient(Operation op, int axis, const Variable& output);

}  // namespace spanwise::ops::reduce
