// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "elementwise.hpp"
#include "kernel_text.hpp"
#include "spanwise/strided/body.hpp"

/// The source of an elementwise kernel.
namespace spanwise::ops::user_kernels {

/// What determines the source in addition to the user's code and, on a GPU, the plan.
struct ElementwiseShape {
  bool is_flat =
      true;      ///< on the CPU: all arrays are dense, in the same order; on a GPU: in C order
  int rank = 1;  ///< of the walk; used if not flat, on the CPU
  int axes = 1;  ///< of arrays that are also used as a whole; used if not flat
  OperandForms forms{};

  friend bool operator==(const ElementwiseShape&, const ElementwiseShape&) = default;
};

struct ElementwiseCode {
  const ElementwiseSpec& spec;
  const std::string& operation;
  bool needs_index;
};

/// CUDA C for the CPU with one kernel of the spec's name. Its parameters: the operands in order
/// (see parameter_text()); if not flat, sw_raw of each array that is also used as a whole, and the
/// walk over the elements and, if needed, the index; the number of elements and of elements per
/// block, which has one thread.
std::string elementwise_source(const ElementwiseCode& code,
                               std::span<const ConvertedArgument> operands,
                               const ElementwiseShape& shape);

/// The kernel on a GPU. Arrays: those accessed by element, in order, then the index, if it is
/// needed or there are no others. Parameters: the other operands; if not flat, sw_raw of each array
/// that is also used as a whole; the number of elements.
strided::Body elementwise_body(const ElementwiseCode& code,
                               std::span<const ConvertedArgument> operands,
                               const ElementwiseShape& shape);

/// How a GPU kernel uses the array of an operand that is accessed by element. `needs_memory`: as
/// returned by the function below.
strided::ArrayRole role_of(const ConvertedArgument& operand, bool needs_memory);
/// Whether outputs must be accessed in memory: the code has atomics or assembler text, or takes
/// addresses of elements.
bool outputs_need_memory(const ElementwiseSpec& spec);

/// Whether the operation is too long to be repeated in a kernel's thread, or has loops.
bool is_long(const std::string& operation);
/// Elements per block on the CPU: some microseconds of work.
inline constexpr std::int64_t elementwise_chunk = 1 << 14;

}  // namespace spanwise::ops::user_kernels
