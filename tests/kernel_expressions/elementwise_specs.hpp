// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "spanwise/kernel_expressions/expression_kernels.hpp"

namespace spanwise::kernel_expressions {

/// An ElementwiseKernel whose parameters are values of elements, as in CuPy.
inline ElementwiseSpec values_spec(std::string in, std::string out, std::string operation) {
  ElementwiseSpec spec;
  spec.common = {"ElementwiseKernel", "user_kernel"};
  spec.in_params = std::move(in);
  spec.out_params = std::move(out);
  spec.operation = std::move(operation);
  return spec;
}

/// An ElementwiseKernel whose parameters are pointers indexed by i, as in PyCUDA.
inline ElementwiseSpec pointers_spec(std::string arguments, std::string operation) {
  ElementwiseSpec spec;
  spec.common = {"ElementwiseKernel", "user_kernel"};
  spec.style = ParameterStyle::pointers;
  spec.arguments = std::move(arguments);
  spec.operation = std::move(operation);
  return spec;
}

}  // namespace spanwise::kernel_expressions
