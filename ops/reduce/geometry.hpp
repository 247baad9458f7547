// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "job.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::ops::reduce {

/// One axis of the joint iteration over all arrays of a job; strides in elements, 0 for absent
/// arrays. `index` is the stride of an element's position along the reduced axes, in C order of the
/// original axes.
struct JobAxis {
  std::int64_t extent = 1;
  std::int64_t input = 0, result = 0, mask = 0, subtrahend = 0, divisor = 0, index = 0;
};

/// Offsets in the arrays of a job.
struct JobOffsets : JobAxis {
  void move(const JobAxis& axis, std::int64_t steps) noexcept {
    input += axis.input * steps;
    result += axis.result * steps;
    mask += axis.mask * steps;
    subtrahend += axis.subtrahend * steps;
    divisor += axis.divisor * steps;
    index += axis.index * steps;
  }
};

/// Calls move(i, steps) for each axis i but the last, along which a combined index of these axes is
/// `steps`, unless that index and all before it are 0.
template <class Move>
void for_each_outer(const std::vector<JobAxis>& axes, std::int64_t index, Move&& move) {
  for (std::size_t i = axes.size() - 1; i-- > 0 && index > 0;) {
    move(i, index % axes[i].extent);
    index /= axes[i].extent;
  }
}

/// The strides of the operands of computed elements along an axis, in elements; 0 for numbers.
using OperandStrides = std::array<std::int64_t, ElementSource::max_operands>;

/// The axes of a job, kept and reduced, each outermost first, merged as far as the strides allow.
struct JobAxes {
  explicit JobAxes(const ReduceJob& job);

  std::vector<JobAxis> kept, reduced;
  std::vector<OperandStrides> kept_strides, reduced_strides;  ///< as `kept` and `reduced`, or empty
  std::int64_t outputs = 1, elements = 1;                     ///< products of the extents
  /// Whether the axis with the shortest strides of the input is kept: adjacent elements belong to
  /// different outputs.
  bool is_column = false;

 private:
  void add(const Walk& walk, int i);
};

}  // namespace spanwise::ops::reduce
