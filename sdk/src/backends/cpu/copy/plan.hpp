// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "spanwise/array.hpp"

namespace spanwise::cpu_backend {

/// One axis of a copy; steps in bytes.
struct Axis {
  std::int64_t extent, target_step, source_step;
};

/// A copy as nested loops in canonical form: no axes of extent 1, positive target steps in
/// descending order, and axes merged where the steps of both operands allow it.
struct CopyPlan {
  std::byte* target = nullptr;
  const std::byte* source = nullptr;  ///< null for a fill
  /// Outermost first; the first `rank` are set. There is space for one more, the bytes of an
  /// element.
  std::array<Axis, max_rank + 1> axes;
  int rank = 0;

  /// For non-empty arrays of equal shape; the target does not overlap itself.
  static CopyPlan make(const Array& source, const Array& target);
  static CopyPlan make(const Array& target);
  std::int64_t size() const noexcept;
};

}  // namespace spanwise::cpu_backend
