// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "parameter.hpp"
#include "spanwise/export.hpp"

namespace spanwise::ops::user_kernels {

/// The declaration of an element body.
struct ElementDeclaration {
  std::vector<Parameter> inputs, outputs;  ///< of dtypes or type parameters, by element
  std::string operation;                   ///< names elements without an index
};

/// Reads CuPy's declarations "T x, T y" and "T z" or, where `outputs` is empty, PyCUDA's "float *z,
/// float *x" with z[i] in the operation. Throws ArgumentError naming `who`, also for operations
/// that use more than their own elements.
SW_API ElementDeclaration element_declaration(const std::string& who, const std::string& inputs,
                                              const std::string& outputs, std::string operation,
                                              const std::string& preamble);

}  // namespace spanwise::ops::user_kernels
