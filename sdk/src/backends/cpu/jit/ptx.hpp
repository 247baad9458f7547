// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parse/lexer.hpp"

namespace spanwise::cpu_backend {

/// Whether `word` begins an asm statement.
inline bool is_asm(std::string_view word) {
  return word == "asm" || word == "__asm__" || word == "__asm";
}

/// An asm statement of PTX instructions.
struct PtxStatement {
  std::size_t end = 0;       ///< the token after its ')'
  std::string instructions;  ///< the first unsupported instruction or, without one, its text
  /// A statement of C++ without its ';', which calls functions of spanwise_ptx.h; "" if an
  /// instruction is not supported.
  std::string replacement;
};

/// Reads the statement at tokens[begin], an asm; nothing if it is malformed.
std::optional<PtxStatement> read_ptx(const std::vector<parse::Token>& tokens, std::size_t begin);

/// Names that stand for the parts of the shim that replacements need, for shim_parts().
const std::vector<std::string>& ptx_names();

}  // namespace spanwise::cpu_backend
