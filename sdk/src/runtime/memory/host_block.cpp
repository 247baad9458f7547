// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/host_block.hpp"

#include "runtime/backend.hpp"

namespace spanwise {

void convert_block(DType from, DType to, const HostBlock& block) {
  runtime::backend_for(cpu).convert_block(from, to, block);
}

}  // namespace spanwise
