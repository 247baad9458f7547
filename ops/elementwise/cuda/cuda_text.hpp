// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cuda_source.hpp"
#include "spanwise/error.hpp"

namespace spanwise::ops {

// The parameters of run() up to the count; operands are addresses or numbers.
inline std::string parameter_text(const KernelShape& shape) {
  std::string list;
  for (int i = 0; i < shape.inputs; ++i) {
    const bool is_number = shape.is_number[static_cast<std::size_t>(i)];
    list += is_number ? text("const C", i, " a", i, ", ") : text("const M", i, "* a", i, ", ");
  }
  list += "Z* z, ";
  if (shape.has_mask) list += "const unsigned char* mask, ";
  if (shape.checks_exponent) list += "int* negative, ";
  return list;
}

// The same as arguments.
inline std::string argument_text(const KernelShape& shape) {
  std::string list;
  for (int i = 0; i < shape.inputs; ++i) list += text("a", i, ", ");
  list += "z, ";
  if (shape.has_mask) list += "mask, ";
  if (shape.checks_exponent) list += "negative, ";
  return list;
}

// The call of the body; `element(i)` is the expression that reads operand i.
template <class F>
std::string result_text(const KernelShape& shape, F&& element) {
  std::string list;
  for (int i = 0; i < shape.inputs; ++i) {
    std::string operand = shape.is_number[static_cast<std::size_t>(i)]
                              ? text("a", i)
                              : text("To<C", i, ">::from(", element(i), ")");
    if (shape.checks_exponent && i == 1) operand = text("checked(", operand, ", negative)");
    list += (i > 0 ? ", " : "") + operand;
  }
  return text("To<Z>::from(", facts(shape.signature.op).body, "::of(", list, "))");
}

/// The kernels of arrays that are not all contiguous.
std::string rows_kernel(const KernelShape& shape);
std::string tiles_kernel(const KernelShape& shape);
std::string strided_kernel(const KernelShape& shape);

}  // namespace spanwise::ops
