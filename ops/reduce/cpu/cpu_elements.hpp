// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "../geometry.hpp"
#include "cpu_kernels.hpp"

namespace spanwise::ops::reduce {

/// Computes the elements of a job, at most max_elements_ at a time, and passes them to its loops.
class CpuElements {
 public:
  /// Where a block begins: an index over the outer kept axes, one along the last of them, and the
  /// same for the reduced axes.
  struct BlockStart {
    std::int64_t outer_kept, column, outer_reduced, row;
  };

  /// `axes` must outlive the object.
  CpuElements(const ReduceJob& job, const JobAxes& axes, const ReduceLoops& loops)
      : source_(job.computed->source),
        element_(job.types.element),
        device_(job.result->device()),
        axes_(axes),
        loops_(loops),
        buffer_elements_(std::min(axes.outputs * axes.elements, max_elements_)) {}

  /// Memory for a thread's elements.
  Array buffer() const;
  /// ReduceLoops::add() of the elements of `block`, whose data and steps are not used.
  void add(const ElementBlock& block, const BlockStart& start, const Array& buffer,
           std::byte* accumulators) const;

 private:
  using Offsets = std::array<std::int64_t, ElementSource::max_operands>;

  Offsets offsets_at(const BlockStart& start) const;
  void compute(const Offsets& offsets, std::int64_t columns, std::int64_t rows,
               const Array& result) const;
  Array part_of(const Array& operand, std::size_t k, std::int64_t offset, std::int64_t columns,
                std::int64_t rows) const;

  static constexpr std::int64_t max_elements_ = 1 << 15;  ///< that stay in the L2 cache

  const ElementSource& source_;
  DType element_;
  Device device_;
  const JobAxes& axes_;
  const ReduceLoops& loops_;
  std::int64_t buffer_elements_;
};

}  // namespace spanwise::ops::reduce
