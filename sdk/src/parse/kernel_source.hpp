// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spanwise/core/dtype.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/parse/token.hpp"

namespace spanwise::parse {

/// A parameter of a kernel.
struct SourceParameter {
  std::string type;  ///< "const float *", also of "const float x[4]"; without "restrict"
  std::string name;
  bool is_pointer = false;
  bool is_const = false;  ///< pointer to const
  /// Of the scalar or the pointee; nothing unless that is an arithmetic type of C or CUDA.
  std::optional<DType> dtype{};
};

/// One __global__ function as the source declares it.
struct SourceKernel {
  std::string name;            ///< unqualified, e.g. "blur"
  std::string qualified_name;  ///< with its namespaces, e.g. "image::blur"
  std::vector<SourceParameter> parameters;
  int line = 1;
  bool is_template = false;
  bool is_extern_c = false;
  bool is_definition = false;
  /// Calls a barrier or a warp collective, directly or through functions and macros of the source.
  bool has_barrier = false;
};

/// Kernel source and the kernels found in it by a light scan without preprocessing: a kernel whose
/// __global__ comes from a macro is not found.
struct KernelSource {
  std::string text;
  std::string file_name = "kernel.cu";  ///< name in messages
  std::vector<SourceKernel> kernels;
  /// `text` is compiled device code, which only a linker accepts.
  bool is_compiled = false;
};

/// Whether the "<<<" of a launch, kernel<<<grid, block>>>(...), begins at token i.
SW_API bool opens_launch(std::span<const Token> tokens, std::size_t i) noexcept;

/// Finds the kernels in CUDA C++ text. Never throws because of the text.
SW_API KernelSource scan_kernels(std::string text, std::string file_name = "kernel.cu");

/// As scan_kernels, but also accepts compiled device code (cubin, PTX, LTO-IR, fat binary, object
/// file, archive), recognised by its contents.
SW_API KernelSource scan_linked(std::string contents, std::string file_name);

}  // namespace spanwise::parse
