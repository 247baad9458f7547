// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../table.hpp"
#include "spanwise/op_sdk.hpp"

namespace spanwise::ops {

/// The operation as an op of graphs: one object for each, registered under its name.
SW_API Ref<const Op> elementwise_op(OpId op);

/// Whether `op` is one of them.
bool is_elementwise(const Op& op);

}  // namespace spanwise::ops
