// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "elementwise.hpp"
#include "kernel_text.hpp"
#include "spanwise/strided/body.hpp"

/// The source of an elementwise kernel.
namespace spanwise::ops::user_kernels {

/// What determines the source in addition to the user's code and the plan.
struct ElementwiseShape {
  bool is_flat = true;  ///< arrays that are also used as a whole are in C order
  int axes = 1;         ///< of these arrays if they are not
  OperandForms forms{};

  friend bool operator==(const ElementwiseShape&, const ElementwiseShape&) = default;
};

struct ElementwiseCode {
  const ElementwiseSpec& spec;
  const std::string& operation;
  bool needs_index;
};

/// The kernel. Arrays: those accessed by element, in order, then the index, if it is
/// needed or there are no others. Parameters: the other operands; if not flat, sw_raw of each array
/// that is also used as a whole; the number of elements.
strided::Body elementwise_body(const ElementwiseCode& code,
                               std::span<const ConvertedArgument> operands,
                               const ElementwiseShape& shape);

/// How the kernel uses the array of an operand that is accessed by element. `needs_memory`: as
/// returned by the function below.
strided::ArrayRole role_of(const ConvertedArgument& operand, bool needs_memory);
/// Whether outputs must be accessed in memory: the code has atomics or assembler text, or takes
/// addresses of elements.
bool outputs_need_memory(const ElementwiseSpec& spec);

/// Whether the operation is too long to be repeated in a kernel's thread, or has loops.
bool is_long(const std::string& operation);

}  // namespace spanwise::ops::user_kernels
