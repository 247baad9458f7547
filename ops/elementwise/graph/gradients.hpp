// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "../table.hpp"
#include "spanwise/op_sdk.hpp"

namespace spanwise::ops {

/// Op::gradient() of an elementwise operation applied at `node`.
std::vector<Cotangent> elementwise_gradient(OpId op, const Apply& node, const Cotangent& output);

}  // namespace spanwise::ops
