// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "spanwise/device.hpp"
#include "spanwise/export.hpp"
#include "spanwise/graph/op.hpp"

namespace spanwise {

/// The value on `target`, whatever the function's device (Theano's x.transfer(target)). Shared
/// where it is there already.
SW_API Ref<const Op> transfer_op(Device target);
/// Where `op` moves its input, or nothing for another op.
SW_API std::optional<Device> transfer_target(const Op& op) noexcept;

}  // namespace spanwise
