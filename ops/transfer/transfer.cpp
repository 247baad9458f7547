// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/graph/op.hpp"

#include "spanwise/op_sdk.hpp"

namespace spanwise::ops {
namespace {

Ref<const Op> make_transfer(const OpProperties& properties) {
  return transfer_op(named_device(property<std::string>("transfer", properties, "device")));
}

[[maybe_unused]] const bool transfer_registered = register_op("transfer", make_transfer);

}  // namespace
}  // namespace spanwise::ops
