// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/op_sdk.hpp"

namespace spanwise::ops::linalg {

/// ProductKind::matmul as a graph op, registered as "matmul".
SW_API Ref<const Op> matmul_op();

}  // namespace spanwise::ops::linalg
