// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "parse/lexer.hpp"

namespace spanwise::parse {

/// Where a source relies on the lanes of a warp executing every statement together, as GPUs before
/// compute capability 7.0 do.
struct WarpOrder {
  std::vector<int> lines;  ///< ascending
  /// A statement that no `volatile` marks is among them: `s[t] += s[t + 16]; __syncwarp();`.
  bool has_plain_stores = false;
};

/// Finds stores through `volatile` that no synchronization follows, and updates of an array's
/// elements from its other elements before a __syncwarp() or the sync() of a group. Names are
/// compared without their scopes, so some lines may rely on nothing.
WarpOrder find_warp_order(const std::vector<Token>& tokens);

}  // namespace spanwise::parse
