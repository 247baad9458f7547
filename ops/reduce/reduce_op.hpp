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

}  // namespace spanwise::ops::reduce
