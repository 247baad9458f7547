// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kernel_expressions/expression_source.hpp"

/// The source of a reduction.
namespace spanwise::kernel_expressions {

/// What determines the source in addition to the user's code.
struct ReductionShape {
  bool is_large = false;                ///< more elements or results than 32 bits can count
  int kept_rank = 1, reduced_rank = 1;  ///< axes of the two walks, after merging
  int axes = 1;                         ///< of the operands' broadcast shape, at least 1
  int adjacent_results = 1;  ///< on a GPU: results that adjacent threads of a block compute
  bool by_columns = false;   ///< on the CPU: adjacent results are computed together
  DType accumulator{};       ///< unset for a user's type
  /// OperandForm::step is along the last reduced axis, or with `by_columns` the last kept one.
  OperandForms forms{};

  friend bool operator==(const ReductionShape&, const ReductionShape&) = default;
};

/// The user's code of one reduction.
struct ReductionCode {
  const ReductionSpec& spec;
  const std::string& map_expr;
  std::string accumulator;  ///< its C++ type
  bool needs_index;         ///< whether map_expr uses `i`
};

/// CUDA C with two kernels. "<name>" reduces part blockIdx.y of the elements of each result; if
/// there is one part, it writes the outputs. "<name>_fold" has the same parameters and combines the
/// parts; its number of elements per result is the number of parts. The parameters are, in order:
/// - the operands, as parameter_text() declares them, but arrays as a whole are always sw_raw;
/// - sw_raw of each array that map_expr uses both by element and as a whole;
/// - the walk over the results, of inputs, if it is needed the index, and outputs;
/// - the walk over the reduced elements, of inputs and, if it is needed, the index;
/// - the numbers of results, of elements per result, of elements per part, of results per block;
/// - the memory for partial results.
std::string reduction_source(const ReductionCode& code, std::span<const ConvertedArgument> operands,
                             const ReductionShape& shape, bool on_gpu);

/// Threads per block on a GPU.
inline constexpr int reduction_threads = 256;
/// The most results that the CPU computes together with `by_columns`.
inline constexpr int reduction_columns = 256;
/// The largest size of an accumulator, for user types too.
inline constexpr std::int64_t max_accumulator_bytes = 64;

}  // namespace spanwise::kernel_expressions
