// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "expression_text.hpp"

#include <algorithm>

#include "spanwise/parse/token.hpp"

namespace spanwise::ops::user_kernels {
namespace {

using parse::Token;
using Tokens = std::vector<Token>;

// Whether `text` begins with an operator that changes its left operand.
bool begins_with_assignment(std::string_view text) {
  if (text.starts_with("++") || text.starts_with("--")) return true;
  if (text.starts_with("<<=") || text.starts_with(">>=")) return true;
  if (text.starts_with("=")) return !text.starts_with("==");
  constexpr std::string_view compound = "+-*/%&|^";
  return text.size() > 1 && compound.find(text[0]) != compound.npos && text[1] == '=';
}

// Whether the end of `text` is an operator that may change its right operand.
bool ends_with_modifier(std::string_view text) {
  return text.ends_with("++") || text.ends_with("--") ||
         (text.ends_with("&") && !text.ends_with("&&"));
}

std::string_view text_at(const Tokens& tokens, std::size_t k) {
  return k < tokens.size() ? tokens[k].text : std::string_view();
}

// The index of the bracket that closes the one at `open`, or of the end.
std::size_t closing(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t k = open; k < tokens.size(); ++k) {
    if (tokens[k].text == "[") ++depth;
    if (tokens[k].text == "]" && --depth == 0) return k;
  }
  return tokens.size();
}

// Whether the token is the name of a member: a.x, p->x, space::x.
bool is_member(const Tokens& tokens, std::size_t k) {
  if (k == 0) return false;
  const std::string_view before = tokens[k - 1].text;
  return before == "." || before == "->" || before == "::";
}

bool is_own_element(const Tokens& tokens, std::size_t k) {
  return text_at(tokens, k + 1) == "[" && text_at(tokens, k + 2) == "i" &&
         text_at(tokens, k + 3) == "]";
}

// Whether the subscripted array at token `k`, whose subscript ends before token `next`, may be
// written to.
bool may_write(std::string_view text, const Tokens& tokens, std::size_t k, std::size_t next) {
  if (next < tokens.size() && begins_with_assignment(text.substr(tokens[next].offset))) return true;
  if (k == 0) return false;
  const Token& before = tokens[k - 1];
  if (ends_with_modifier(text.substr(0, before.offset + before.text.size()))) return true;
  // An argument of a call may be taken by reference, and a member may be assigned to or be a
  // function that changes the element.
  const std::string_view after = text_at(tokens, next);
  const bool is_passed = before.text == "(" || before.text == ",";
  return after == "." || after == "->" || (is_passed && (after == ")" || after == ","));
}

}  // namespace

ArrayUses uses_of(std::string_view text, std::string_view array) {
  const Tokens tokens = parse::lex(text);
  ArrayUses uses;
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    if (tokens[k].text != array || is_member(tokens, k)) continue;
    if (text_at(tokens, k + 1) != "[") {
      uses.as_whole = uses.may_write = true;
      continue;
    }
    (is_own_element(tokens, k) ? uses.own_element : uses.other_elements) = true;
    uses.may_write |= may_write(text, tokens, k, closing(tokens, k + 1) + 1);
  }
  return uses;
}

bool declares_index(std::string_view text) {
  const Tokens tokens = parse::lex(text);
  for (std::size_t k = 1; k < tokens.size(); ++k) {
    if (tokens[k].text != "i") continue;
    const Token& before = tokens[k - 1];
    const bool is_type = before.kind == Token::Kind::identifier && before.text != "return" &&
                         before.text != "else" && before.text != "case";
    if (is_type || (before.text == "&" && k > 1 && tokens[k - 2].text == "auto")) return true;
  }
  return false;
}

std::string replace_element_accesses(std::string_view text,
                                     const std::vector<std::string>& arrays) {
  const Tokens tokens = parse::lex(text);
  std::string out;
  std::size_t copied = 0;
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    const Token& token = tokens[k];
    if (std::find(arrays.begin(), arrays.end(), token.text) == arrays.end()) continue;
    if (is_member(tokens, k) || !is_own_element(tokens, k)) continue;
    const std::size_t end = tokens[k + 3].offset + 1;
    out.append(text.substr(copied, token.offset - copied));
    out.append("(*sw_at_").append(token.text).append(")");
    const std::string_view replaced = text.substr(token.offset, end - token.offset);
    out.append(static_cast<std::size_t>(std::count(replaced.begin(), replaced.end(), '\n')), '\n');
    copied = end;
    k += 3;
  }
  return out.append(text.substr(copied));
}

}  // namespace spanwise::ops::user_kernels
