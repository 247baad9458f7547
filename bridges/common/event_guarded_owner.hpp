// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/bridge.hpp"

namespace spanwise {

/// Makes a foreign owner wait for our queued work, as memory that a device works on needs, where no
/// stream is known on which the owner works (StreamUses::home()): it is told when events say that
/// our work has passed; see collect_released().
class EventGuardedOwner {
 public:
  static ForeignOwner around(ForeignOwner owner);
  /// The context of the owner inside where `storage` was adopted from one, and it has `release`.
  static void* context(const Storage& storage, ReleaseFn release) noexcept;
};

}  // namespace spanwise
