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
  /// From LoadedImage::base; of `shared` and `builtin`, from LoadedImage::thread_data.
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

/// The variables of a module, from the image's symbol table; none for an image without one.
struct ImageVariables {
  std::vector<ImageVariable> globals;  ///< __device__ and __constant__, in the order of the table
  std::vector<ImageVariable> shared;   ///< __shared__
  std::vector<ImageVariable> builtin;  ///< thread-local variables of the shim, such as threadIdx
  bool allocates = false;              ///< calls malloc
};
ImageVariables read_variables(std::string_view image);

/// "total" for the symbol of a variable at namespace scope or in a function; "" if unknown.
std::string variable_name(std::string_view symbol);

}  // namespace spanwise::cpu_backend
