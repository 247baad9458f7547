// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce.hpp"
#include "spanwise/graph/elementwise.hpp"

namespace spanwise::ops::reduce {

class ReduceKernelTable;

/// The elements of a reduction that are computed when they are read.
struct ComputedElements {
  ElementSource& source;       ///< after begin()
  ReduceKernelTable& kernels;  ///< those that read from this source, on GPUs
};

/// Whether reduce() of computed elements takes the op: it reads each element once.
bool reads_once(Operation op) noexcept;

/// reduce() of computed elements of the shape and dtype of `stand_in`, whose own elements are not
/// read. Options without where, mean and initial.
Array reduce_computed(Operation op, const ComputedElements& elements, const Array& stand_in,
                      const Options& options);

}  // namespace spanwise::ops::reduce
