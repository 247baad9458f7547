// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "../fused/cpu_program.hpp"
#include "row_pass.hpp"
#include "spanwise/core/array.hpp"

namespace spanwise::ops {

/// Runs a row pass on the CPU: each thread multiplies a block of rows that fits into its cache,
/// runs the program on the products, and adds the block's rows before it takes the next. One call
/// at a time.
class CpuRowPass {
 public:
  /// `ranks`: of the inputs of the pass. `pass` must outlive the object.
  CpuRowPass(const RowPass& pass, std::span<const int> ranks);

  /// Whether run() takes the inputs, for which the other conditions of RowPassRunner::accepts()
  /// hold: the elements of the matrix and the vectors are at multiples of their size.
  bool accepts(std::span<const Array* const> inputs) const;
  /// Outputs are contiguous and share no memory with inputs.
  void run(std::span<const Array* const> inputs, std::span<const Array> outputs);

  static constexpr std::int64_t max_columns = 1 << 14;

 private:
  template <class T>
  void run_in(std::span<const Array* const> inputs, std::span<const Array> outputs);

  const RowPass& pass_;
  CpuProgram program_;
  std::optional<CpuProgram> sum_program_;
  std::optional<Array> products_, partial_;  ///< see cached_array()
};

}  // namespace spanwise::ops
