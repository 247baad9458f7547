// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/copy/cast_block.hpp"

namespace spanwise::host {

BlockKernel cast_kernel(DType from, DType to) {
  return core::visit(from, "cpu copy",
                     [&](auto type) { return cast_from<typename decltype(type)::type>(to); });
}

}  // namespace spanwise::host
