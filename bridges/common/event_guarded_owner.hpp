// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/bridge.hpp"

namespace spanwise {

/// Delays the release of a foreign owner until events show that Spanwise's queued work on the
/// memory has completed (collect_released()). For memory of a device if no stream of the owner is
/// known that could wait instead.
class EventGuardedOwner {
 public:
  static ForeignOwner around(ForeignOwner owner);
  /// The context of the wrapped owner if `storage` was adopted from such an owner and its release
  /// function is `release`; else null.
  static void* context(const Storage& storage, ReleaseFn release) noexcept;
};

}  // namespace spanwise
