// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace spanwise::parse {

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
std::vector<Token> lex(std::string_view source);

/// Whether `text` is one identifier, and nothing else.
bool is_name(std::string_view text);

/// Whether the "<<<" of a launch, kernel<<<grid, block>>>(...), begins at token i.
bool opens_launch(std::span<const Token> tokens, std::size_t i) noexcept;

/// The index after the bracket that closes tokens[open], which is one of ( [ { <; tokens.size()
/// where it is not closed.
std::size_t skip_balanced(std::span<const Token> tokens, std::size_t open);

/// The parts of a list, which commas outside of brackets separate. The list ends at a closing
/// bracket that none of its tokens opens. No parts where it has no tokens.
std::vector<std::span<const Token>> split_at_commas(std::span<const Token> list);

}  // namespace spanwise::parse
