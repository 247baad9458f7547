// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "spanwise/bridge.hpp"
#include "spanwise/stream.hpp"

namespace spanwise {

/// Makes a foreign owner wait for our queued work, as memory that a device works on needs.
///
/// With a home stream (one of the producer's that lives as long as the process) that stream is made
/// to wait and the owner is told at once: what the producer queues next comes after our work.
/// Without, the owner is told when events say that our work has passed; see release_passed().
class OrderedOwner {
 public:
  /// Takes `home` over where there is an owner to tell.
  static ForeignOwner around(ForeignOwner owner, std::optional<Stream>&& home);
  /// The context of the owner inside where `storage` was adopted from one, and it has `release`.
  static void* context(const Storage& storage, ReleaseFn release) noexcept;
};

}  // namespace spanwise
