// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/string_utils.hpp"
#include "parse/source_scan.hpp"

namespace spanwise::parse {
namespace {

// Whether the declaration that continues at tokens[i] declares a variable: a variable's name is
// followed by an initialiser, extents or the end, a function's by its parameters.
bool is_variable(const std::vector<Token>& tokens, std::size_t i) {
  for (; i < tokens.size(); ++i) {
    const std::string_view word = tokens[i].text;
    if (is_one_of(word, {";", "=", "[", "{"})) return true;
    // Parameters of a function or kernel, and variables that do not persist between launches.
    if (is_one_of(word, {"(", "operator", "__shared__", "constexpr", "__global__"})) return false;
    if (word == "<") i = skip_balanced(tokens, i) - 1;
    if (is_attribute_word(word)) i = skip_balanced(tokens, i + 1) - 1;
  }
  return false;
}

}  // namespace

bool declares_variables(std::string_view source) {
  // The text is searched first, since most sources have none of the words and need no tokens.
  for (const std::string_view word :
       {"__device__", "__constant__", "__managed__", "static", "texture"}) {
    if (source.find(word) == source.npos) continue;
    const std::vector<Token> tokens = lex(source);
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (tokens[i].text == word && is_variable(tokens, i + 1)) return true;
  }
  return false;
}

}  // namespace spanwise::parse
