// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "spanwise/core/export.hpp"
#include "spanwise/parse/token.hpp"

namespace spanwise::parse {

/// A declaration at namespace scope.
struct Declaration {
  enum class Kind { function, prototype, type, variable, other };
  Kind kind = Kind::other;
  std::size_t begin = 0, end = 0;  ///< tokens [begin, end), with the last ';' or '}'
  std::size_t head_end = 0;        ///< where a body or initialiser begins; without one, `end`
  /// The names that it declares, possibly more. Empty for operators, and for Kind::other.
  std::vector<std::string_view> names;
};

/// The declarations of a file, in the order of their beginnings; they do not overlap. If the
/// branches of an #if divide a declaration, it extends over all of them. An unfinished declaration
/// at the end is left out.
SW_API std::vector<Declaration> split_declarations(const std::vector<Token>& tokens);

}  // namespace spanwise::parse
