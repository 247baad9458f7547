// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce.hpp"
#include "spanwise/op_sdk.hpp"

/// The reductions and scans as graph ops. They are registered under NumPy's names ("sum", "argmax",
/// "cumsum", ...) with the properties axis (a list of nonnegative axes; absent: all), keepdims,
/// dtype (its name) and correction.
namespace spanwise::ops::reduce {

/// The properties of the graph op for `op` with these options; only axes, keepdims, dtype and
/// correction are used.
SW_API OpProperties properties_for(Operation op, int rank, const Options& options);

/// spanwise::Op::gradient() of a reduction over `axes` applied at `node`; `output` is the
/// derivative with respect to its output. `correction` is that of var and std.
Cotangent reduction_gradient(Operation op, const Apply& node, const AxisSet& axes, bool keepdims,
                             double correction, const Variable& output);

/// The same of a cumulative sum or product along `axis`.
Cotangent scan_gradient(Operation op, int axis, const Variable& output);

/// The op that computes `op` with `options` of the result of `elements`, an ElementProducer, from
/// the inputs of `elements`, whose result it does not write to memory. `reduction` is the op for
/// the same of an array.
Ref<const spanwise::Op> transform_reduce_op(Ref<const spanwise::Op> elements,
                                            Ref<const spanwise::Op> reduction, Operation op,
                                            const Options& options);

}  // namespace spanwise::ops::reduce
