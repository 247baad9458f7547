// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "spanwise/source/token.hpp"

namespace spanwise::cpu_backend {

/// An asm statement of one PTX instruction that the CPU can express.
struct PtxStatement {
  std::size_t end = 0;      ///< the token after its ')'
  std::string replacement;  ///< an expression
};

/// Reads the statement at tokens[begin], an asm. Nothing if its instruction is not among the
/// commonest: special registers, bit operations, approximate math, fences.
std::optional<PtxStatement> read_ptx(const std::vector<source::Token>& tokens, std::size_t begin);

/// Names whose parts of the shim replacements use.
const std::vector<std::string>& ptx_names();

}  // namespace spanwise::cpu_backend
