// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <span>

#include "row_pass_source.hpp"
#include "spanwise/kernels/kernel.hpp"

namespace spanwise::ops {

/// Runs a row pass by two kernels. One call at a time.
class CudaRowPass {
 public:
  /// `pass` must outlive the object.
  CudaRowPass(const RowPass& pass, Device device) : pass_(pass), device_(device) {}

  /// Queues the kernels on the device's current stream, for inputs that RowPassRunner::accepts().
  /// Outputs are contiguous and share no memory with inputs.
  void run(std::span<const Array* const> inputs, std::span<const Array> outputs);

  static constexpr std::int64_t max_columns = 4096;

 private:
  struct CompiledPass {
    RowPassShape shape;
    Kernel pass, finish;
    std::int64_t resident_blocks;  ///< of `pass`, on the whole device
  };
  const CompiledPass& kernels_for(const RowPassShape& shape);
  RowPassShape shape_for(std::span<const Array* const> inputs) const;

  const RowPass& pass_;
  Device device_;
  std::deque<CompiledPass> compiled_;
  std::optional<Array> partial_;  ///< see cached_array()
};

}  // namespace spanwise::ops
