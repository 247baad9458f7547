// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "kernels/module_state.hpp"

namespace spanwise::kernels {

/// The signature for Kernel::bind(): the function's signature extended by the declarations.
/// Throws KernelArgumentError where one cannot be parsed or contradicts the signature.
Signature declared_signature(const KernelState& function,
                             std::span<const std::string> declarations);

}  // namespace spanwise::kernels
