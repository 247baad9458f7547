// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "spanwise/array.hpp"

namespace spanwise::host {

/// One axis of a copy; steps in bytes.
struct Axis {
  std::int64_t extent, target_step, source_step;
};

/// A copy as nested loops in their simplest form: no axis of extent 1, target steps positive and
/// falling from the outermost axis to the innermost, axes that run on in both operands merged.
struct CopyPlan {
  std::byte* target = nullptr;
  const std::byte* source = nullptr;  ///< null for a fill
  /// Outermost first, `rank` of them; one place is left for an element's bytes.
  std::array<Axis, max_rank + 1> axes;
  int rank = 0;

  /// For arrays of equal shape, with elements, whose target does not overlap itself.
  static CopyPlan make(const Array& source, const Array& target);
  static CopyPlan make(const Array& target);
  std::int64_t size() const noexcept;
};

}  // namespace spanwise::host
