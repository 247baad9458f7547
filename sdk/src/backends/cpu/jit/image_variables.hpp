// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace spanwise::cpu_backend {

/// A variable of a compiled module.
struct ImageVariable {
  std::string symbol;
  std::size_t offset = 0;  ///< from the start of the loaded image or, of __shared__ ones, of the
                           ///< thread's variables
  std::size_t bytes = 0;
};

/// The variables that a module's source declares, from the image's symbol table; nothing for an
/// image that has none.
struct ImageVariables {
  std::vector<ImageVariable> globals;  ///< __device__ and __constant__, in the order of the table
  std::vector<ImageVariable> shared;   ///< __shared__
  std::vector<ImageVariable> builtin;  ///< further variables of a thread: threadIdx, pointers
  bool allocates = false;              ///< calls malloc
};
ImageVariables read_variables(std::string_view image);

/// "total" for the symbol of a variable at namespace scope or in a function; "" if unknown.
std::string variable_name(std::string_view symbol);

}  // namespace spanwise::cpu_backend
