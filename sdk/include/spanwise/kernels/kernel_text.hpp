// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spanwise/export.hpp"
#include "spanwise/kernel.hpp"

namespace spanwise {

/// A __global__ function declared in source text. Sizes and offsets of its parameters are 0: only a
/// binary has them.
struct DeclaredKernel {
  std::string name;  ///< with its namespaces
  int line = 1;
  bool is_template = false;
  bool has_barrier = false;  ///< whether its text contains a barrier of threads
  std::vector<KernelParameter> parameters;
};

/// The kernels that CUDA C source declares, found without a compiler: a kernel whose __global__
/// comes from a macro is not found.
SW_API std::vector<DeclaredKernel> declared_kernels(std::string_view source);

}  // namespace spanwise
