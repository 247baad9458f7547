// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "source/kernel_source.hpp"

namespace spanwise::kernels {

/// The declaration of the template instance `name`, "scale<float, 3>", of a template in `source`:
/// its parameter types with the template arguments substituted. Template arguments that `name`
/// leaves to deduction stay unsubstituted, so their dtype is unknown.
source::SourceKernel template_instance(const source::KernelSource& source,
                                       const source::SourceKernel& declared, std::string_view name);

}  // namespace spanwise::kernels
