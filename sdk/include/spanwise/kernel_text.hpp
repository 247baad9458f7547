// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spanwise/export.hpp"
#include "spanwise/kernel.hpp"

namespace spanwise {

/// A __global__ function as a text declares it. Sizes and offsets of its parameters are a binary's,
/// and 0 here.
struct DeclaredKernel {
  std::string name;  ///< with its namespaces
  int line = 1;
  bool is_template = false;
  bool has_barrier = false;  ///< threads wait for one another, as far as the text shows
  std::vector<KernelParameter> parameters;
};

/// What kernels a CUDA C text has, found without a compiler: a macro that hides __global__ hides
/// the kernel.
SW_API std::vector<DeclaredKernel> declared_kernels(std::string_view source);

}  // namespace spanwise
