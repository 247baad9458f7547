// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "spanwise/bridge.hpp"

namespace spanwise::test {

/// Counts the calls of the release function of the memory that it owns.
struct ReleaseCounter {
  int releases = 0;
  ForeignOwner owner() {
    return ForeignOwner(
        [](void* context, void*, std::size_t, StreamUses&) noexcept {
          ++static_cast<ReleaseCounter*>(context)->releases;
        },
        this);
  }
};

}  // namespace spanwise::test
