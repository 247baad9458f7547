// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kernel_text.hpp"
#include "reduction.hpp"

/// The source of a reduction.
namespace spanwise::ops::user_kernels {

/// What determines the source in addition to the user's code. `forms` have the step along the last
/// reduced axis, or with `by_columns` along the last kept one.
struct ReductionShape {
  bool is_large = false;  ///< more elements or results than 32 bits can count
  int kept_rank = 1, reduced_rank = 1, axes = 1;
  int adjacent_results = 1;  ///< on a GPU: results that adjacent threads of a block compute
  bool by_columns = false;   ///< on the CPU: adjacent results are computed together
  DType accumulator{};       ///< unset for a user's type
  OperandForms forms{};

  friend bool operator==(const ReductionShape&, const ReductionShape&) = default;
};

struct ReductionCode {
  const ReductionSpec& spec;
  const std::string& map_expr;
  std::string accumulator;  ///< in C++
  bool needs_index;
};

/// CUDA C with two kernels. The parameters of "<name>" are: the operands in order (see
/// parameter_text(), but arrays as a whole are always sw_raw); sw_raw of each array that is also
/// used as a whole; the walk over results (inputs, outputs, then the index if needed) and the walk
/// over the reduced elements (inputs, the index); the numbers of results, of elements per result,
/// of elements per part, and of results per block; the memory for partial results. blockIdx.y is
/// the part; if there is one part, the kernel writes the outputs. "<name>_fold" has the same
/// parameters and combines the parts; its number of elements per result is the number of parts.
std::string reduction_source(const ReductionCode& words,
                             std::span<const ConvertedArgument> operands,
                             const ReductionShape& shape, bool on_gpu);

inline constexpr int reduction_block = 256;
/// Results that the CPU computes together with `by_columns`.
inline constexpr int reduction_columns = 256;
/// The largest accumulator of a user's type, in bytes.
inline constexpr std::int64_t largest_accumulator = 64;

}  // namespace spanwise::ops::user_kernels
