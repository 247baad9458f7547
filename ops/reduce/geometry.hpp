// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "job.hpp"
#include "spanwise/walk.hpp"

namespace spanwise::ops::reduce {

/// One axis that all arrays of a job walk together; strides in elements, 0 for absent arrays.
struct JobAxis {
  std::int64_t extent = 1;
  std::int64_t input = 0, result = 0, mask = 0, companion = 0, divisor = 0, place = 0;
};

/// The axes of a job: those that stay and those that go, each outermost first, as few as the
/// strides allow. `place` counts elements of an output in C order of the axes as they were given.
struct JobAxes {
  explicit JobAxes(const Job& job);

  std::vector<JobAxis> kept, gone;
  std::int64_t outputs = 1, elements = 1;  ///< products of the extents
  /// The axis that the input walks in the shortest steps stays.
  bool is_column = false;
};

}  // namespace spanwise::ops::reduce
