// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "kernels/module_state.hpp"

namespace spanwise::kernels {

/// What Function::bind() makes of its declarations: the function's signature with what they add.
/// Throws KernelArgumentError where one cannot be read or contradicts what is known.
Signature declared_signature(const FunctionState& function,
                             std::span<const std::string> declarations);

}  // namespace spanwise::kernels
