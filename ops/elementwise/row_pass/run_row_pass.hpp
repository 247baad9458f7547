// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "cpu_row_pass.hpp"
#include "cuda_row_pass.hpp"

namespace spanwise::ops {

/// Runs a row pass on one device. One call at a time.
class RowPassRunner {
 public:
  /// `ranks`: of the inputs of the pass. `pass` must outlive the runner.
  RowPassRunner(const RowPass& pass, std::span<const int> ranks, Device device);

  /// Whether run() takes the inputs: a matrix of at least one element whose rows are contiguous and
  /// not longer than the device's implementation takes, on the device; other inputs on the device,
  /// or numbers on the host; vectors of one element for each row, or of one element for all.
  bool accepts(std::span<const Array* const> inputs) const;
  /// Outputs are contiguous and share no memory with inputs. On a GPU the work is queued on the
  /// current stream.
  void run(std::span<const Array* const> inputs, std::span<const Array> outputs);

 private:
  bool has_required_rows(std::span<const Array* const> inputs) const;

  const RowPass& pass_;
  Device device_;
  std::optional<CpuRowPass> cpu_pass_;
  std::optional<CudaRowPass> cuda_pass_;
};

}  // namespace spanwise::ops
