// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "spanwise/core/export.hpp"
#include "spanwise/kernels/kernel.hpp"

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

/// The tokens of a source text without its comments, and the declarations at namespace scope.
struct SourceOutline {
  struct Token {
    std::string_view text;  ///< points into the source; a preprocessor directive is one token
    int line = 1;
  };
  struct Declaration {
    /// "function", "prototype", "type", "variable" or "other"
    std::string_view kind;
    std::size_t begin = 0, end = 0;       ///< tokens [begin, end)
    std::string_view head;                ///< the text before a body or initialiser
    std::vector<std::string_view> names;  ///< the declared ones, and maybe others that it uses
  };
  std::vector<Token> tokens;
  std::vector<Declaration> declarations;
};

SW_API SourceOutline outline_source(std::string_view source);

/// The lines of CUDA C source that seem to rely on the lanes of a warp executing each statement
/// together, without synchronization. On the CPU, the warps of such a source run in step.
SW_API std::vector<int> warp_step_lines(const std::string& source);

/// What compiling for the CPU does with an #include of `name`, if no include folder has that file:
/// "known": a header of CUDA, C or C++, which is always found; "replaced": a header of NVIDIA's
/// samples, in place of which Spanwise has one; "left out": ignored, with the host code that needs
/// it; "": any other header, which the compiler finds in a system folder or reports as missing.
SW_API std::string_view header_on_cpu(std::string_view name);

}  // namespace spanwise
