// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parse/kernel_source.hpp"
#include "parse/lexer.hpp"

namespace spanwise::cpu_backend {

/// Whether `word` begins an asm statement.
inline bool is_asm(std::string_view word) {
  return word == "asm" || word == "__asm__" || word == "__asm";
}

/// An asm statement of PTX instructions.
struct PtxStatement {
  std::size_t end = 0;       ///< the token after its ')'
  std::string instructions;  ///< its text, with single blanks
  /// An expression of C++; "" for several instructions, and for an instruction that is not
  /// supported. Supported are special registers, bit operations, approximate math, loads, stores
  /// and fences.
  std::string replacement;
};

/// Reads the statement at tokens[begin], an asm; nothing if it is malformed.
std::optional<PtxStatement> read_ptx(const std::vector<parse::Token>& tokens, std::size_t begin);

/// Names that stand for the parts of the shim that replacements need, for shim_parts().
const std::vector<std::string>& ptx_names();

/// A use of something that the CPU does not support.
struct UnsupportedUse {
  std::size_t token = 0;  ///< index
  std::string message;    ///< "cubemap textures (texCubemap) exist only on a GPU. ..."
};

std::vector<UnsupportedUse> find_unsupported(const parse::SourceScan& scan);

}  // namespace spanwise::cpu_backend
