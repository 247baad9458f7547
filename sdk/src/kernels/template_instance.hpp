// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "runtime/source/kernel_source.hpp"

namespace spanwise::kernels {

/// The declaration of the instance `name`, "scale<float, 3>", of a template that `source` declares:
/// its parameters' types with the template's arguments in them. Arguments that the name leaves to
/// the compiler stay as they are written, and so unknown.
runtime::SourceKernel template_instance(const runtime::KernelSource& source,
                                        const runtime::SourceKernel& declared,
                                        std::string_view name);

}  // namespace spanwise::kernels
