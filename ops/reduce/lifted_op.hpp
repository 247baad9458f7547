// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce.hpp"
#include "spanwise/op_sdk.hpp"

namespace spanwise::ops::reduce {

/// The op that computes `op` with `options` of the result of `elements`, a GivesElements, from the
/// inputs of `elements`, whose result it does not write to memory. `reduction` is the op for the
/// same of an array.
Ref<const spanwise::Op> lifted_op(Ref<const spanwise::Op> elements,
                                  Ref<const spanwise::Op> reduction, Operation op,
                                  const Options& options);

}  // namespace spanwise::ops::reduce
