// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "runtime/source/kernel_source.hpp"

namespace spanwise::kernels {

/// The declaration of the template instance `name`, "scale<float, 3>", of a template in `source`:
/// its parameter types with the template arguments substituted. Template arguments that `name`
/// leaves to deduction stay unsubstituted, so their dtype is unknown.
runtime::SourceKernel template_instance(const runtime::KernelSource& source,
                                        const runtime::SourceKernel& declared,
                                        std::string_view name);

}  // namespace spanwise::kernels
