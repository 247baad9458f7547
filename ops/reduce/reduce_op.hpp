// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce.hpp"
#include "spanwise/op_sdk.hpp"

/// The same reductions and scans as ops of graphs. They are registered by NumPy's names ("sum",
/// "argmax", "cumsum", ...) with the properties axis (a list, counted from the front; absent: all),
/// keepdims, dtype (its name) and correction.
namespace spanwise::ops::reduce {

/// What a reduction of `op` is registered with, from the same options as reduce(). Only axes,
/// keepdims, dtype and correction count.
SW_API OpProperties properties_for(Op op, int rank, const Options& options);

}  // namespace spanwise::ops::reduce
