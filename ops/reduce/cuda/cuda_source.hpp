// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "../computed_elements.hpp"
#include "../kinds.hpp"

namespace spanwise::ops::reduce {

/// Everything that determines a module's text.
struct CudaShape {
  enum class Form { any, rows, columns, scan, scan_columns };

  ReductionTypes types;
  DType result;
  DType subtrahend = float64;
  Form form = Form::any;
  int kept = 1, reduced = 1;  ///< number of axes kept, and reduced
  int group = 256;            ///< threads that share an output: 1, 8, 32 or 256
  int width = 1;              ///< elements per access
  bool has_mask = false, has_divisors = false, has_initial = false, is_large = false;
  bool is_packed = false;     ///< for scans: lines are read and written as packs
  bool is_pipelined = false;  ///< for packed scans: by ScanPipeline, without the kernel `lines`
  Finish finish = Finish::nothing;
  int operands = 0;   ///< of computed elements
  int numbers = 0;    ///< bit k: operand k is passed by value
  int constants = 0;  ///< bit k: operand k has the same element for all of an access of `width`

  friend bool operator==(const CudaShape&, const CudaShape&) = default;
};

/// CUDA C with the kernels `run` and `fold`, or (scan) `run` and `lines`, or (scan_columns)
/// `totals`, `carries` and `run`. `computed` is the source of computed elements, else null.
std::string cuda_source(const CudaShape& shape, const ElementSource* computed = nullptr);

/// Bytes of an accumulator on the GPU.
int accumulator_bytes(const CudaShape& shape) noexcept;

}  // namespace spanwise::ops::reduce
