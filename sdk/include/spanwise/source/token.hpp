// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "spanwise/export.hpp"

namespace spanwise::source {

/// A token of CUDA C++. Comments and white space are skipped; a preprocessor directive is one
/// token. `text` points into the source passed to lex().
struct Token {
  enum class Kind { identifier, number, string, character, punctuation, directive };
  Kind kind;
  std::string_view text;
  std::size_t offset = 0;
  int line = 1;
};

/// Splits source into tokens; never fails, since the compiler reports malformed source.
SW_API std::vector<Token> lex(std::string_view source);

/// `source` with its line numbers in front, for CompileError.
SW_API std::string with_line_numbers(std::string_view source);

}  // namespace spanwise::source
