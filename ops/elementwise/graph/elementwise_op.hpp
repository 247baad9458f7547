// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "../table.hpp"
#include "spanwise/op_sdk.hpp"

namespace spanwise::ops {

/// The operation as an op of graphs: one object for each, registered under its name.
SW_API Ref<const Op> elementwise_op(OpId op);

/// Whether `op` is one of them.
bool is_elementwise(const Op& op);
/// Which one; nullopt for other ops, and for variants that overwrite an input.
std::optional<OpId> elementwise_id(const Op& op);

/// `given` if it is on the device, or a number on the host, which is passed by value; else a copy
/// on the device, which is kept in `moved`.
const Array& on_device_or_number(const Array& given, Device device, std::optional<Array>& moved);

/// Op::gradient() of an elementwise operation applied at `node`.
std::vector<Cotangent> elementwise_gradient(OpId op, const Apply& node, const Cotangent& output);

}  // namespace spanwise::ops
