// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "spanwise/device.hpp"
#include "spanwise/export.hpp"
#include "spanwise/graph/op.hpp"

namespace spanwise {

/// The op that moves its input to `target`, whatever the function's device (Theano's
/// x.transfer(target)). The output shares the input's memory where it is on `target` already.
SW_API Ref<const Op> transfer_op(Device target);
/// The target device of a transfer op; nullopt for any other op.
SW_API std::optional<Device> transfer_target(const Op& op) noexcept;

}  // namespace spanwise
