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
  bool is_flat = true;  ///< whether the arrays that are also used as a whole are in C order
  int axes = 1;         ///< unless flat: the number of axes of these arrays
  OperandForms forms{};

  friend bool operator==(const ElementwiseShape&, const ElementwiseShape&) = default;
};

/// The user's code of one kernel.
struct ElementwiseCode {
  const ElementwiseSpec& spec;
  const std::string& operation;  ///< with replace_element_accesses()
  bool needs_index;              ///< whether the code uses `i`
};

/// The kernel. Arrays: those accessed by element, in order, then the index, if it is
/// needed or there are no others. Parameters: the other operands; if not flat, sw_raw of each array
/// that is also used as a whole; the number of elements.
strided::Body elementwise_body(const ElementwiseCode& code,
                               std::span<const ConvertedArgument> operands,
                               const ElementwiseShape& shape);

/// How the kernel uses the array of an operand that is accessed by element. `needs_memory`: see
/// outputs_need_memory().
strided::ArrayRole role_of(const ConvertedArgument& operand, bool needs_memory);
/// Whether outputs must be accessed in memory: the code has atomics or assembler text, or takes
/// addresses of elements.
bool outputs_need_memory(const ElementwiseSpec& spec);

/// Whether the operation is too long to be repeated in a kernel's thread, or has loops.
bool is_long_operation(const std::string& operation);

}  // namespace spanwise::ops::user_kernels
