// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/kernels/kernel_text.hpp"

#include <utility>

#include "source/kernel_source.hpp"

namespace spanwise {

std::vector<DeclaredKernel> declared_kernels(std::string_view source) {
  std::vector<DeclaredKernel> out;
  for (source::SourceKernel& kernel : source::scan_kernels(std::string(source)).kernels) {
    DeclaredKernel declared{.name = std::move(kernel.qualified_name),
                            .line = kernel.line,
                            .is_template = kernel.is_template,
                            .has_barrier = kernel.has_barrier,
                            .parameters = {}};
    for (source::SourceParameter& parameter : kernel.parameters)
      declared.parameters.push_back({.name = std::move(parameter.name),
                                     .type = std::move(parameter.type),
                                     .is_pointer = parameter.is_pointer,
                                     .is_const = parameter.is_const,
                                     .dtype = parameter.dtype});
    out.push_back(std::move(declared));
  }
  return out;
}

}  // namespace spanwise
