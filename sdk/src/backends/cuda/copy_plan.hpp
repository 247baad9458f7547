// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "spanwise/array.hpp"

/// How to move the elements of one layout to another: the two brought to their simplest common
/// form. Index arithmetic only; touches no memory and no device.
namespace spanwise::cuda {

/// One axis of a copy; strides count units (CopyPlan::source_unit, target_unit).
struct CopyAxis {
  std::int64_t extent = 1;
  std::int64_t source_stride = 0, target_stride = 0;
};

/// for (i in axes) target[sum i * target_stride] = source[sum i * source_stride], outermost first.
struct CopyPlan {
  enum class Kind {
    nothing,  ///< no elements
    block,    ///< one run of bytes on both sides
    strided,  ///< one unit at a time
    tiled,    ///< the source runs along one axis, the target along another: the last two of `axes`,
            ///< the source's first; moved in tiles so that both sides are read and written in runs
  };
  Kind kind = Kind::nothing;
  /// Bytes of one unit. Equal dtypes move words as wide as both layouts allow; a cast moves
  /// elements.
  int source_unit = 1, target_unit = 1;
  /// From the arrays' element (0, ..., 0) to the plan's first unit, in bytes; not 0 where axes that
  /// run backwards were turned.
  std::int64_t source_offset = 0, target_offset = 0;
  std::vector<CopyAxis> axes;  ///< at least one, unless nothing
  /// An offset or the number of units does not fit in 31 bits.
  bool wide = false;

  std::int64_t size() const noexcept;  ///< units
};

/// For arrays of equal shape that do not overlap. Looks at layouts, dtypes and the alignment of
/// data.
CopyPlan plan_copy(const Array& source, const Array& target);

/// The target's side of the same, for writing one value everywhere: source strides are 0, and axes
/// that revisit an element (stride 0) are left out. Units are the dtype's items.
CopyPlan plan_fill(const Array& target);

}  // namespace spanwise::cuda
