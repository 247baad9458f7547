// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "source/parameter.hpp"

#include <algorithm>
#include <string>

#include "core/words.hpp"
#include "spanwise/source/c_type.hpp"

namespace spanwise::source {
namespace {

using Words = std::vector<std::string_view>;

bool is_restrict(std::string_view word) {
  return is_one_of(word, {"__restrict__", "__restrict", "restrict"});
}
// Keywords of a parameter that are neither its type nor its name.
bool is_qualifier(std::string_view word) {
  return is_one_of(word, {"const", "volatile", "struct", "class", "union", "enum", "typename",
                          "__grid_constant__", "register"});
}
Words without_default_and_name(std::span<const Token> tokens, std::string& name, bool& is_array) {
  Words words;
  for (const Token& token : tokens) {
    if (token.text == "=") break;
    if (token.text == "[") is_array = true;
    if (is_array) continue;
    if (token.kind == Token::Kind::directive || is_restrict(token.text)) continue;
    words.push_back(token.text);
  }
  if (words.empty() || words.back() == ">" || is_type_keyword(words.back()) ||
      is_qualifier(words.back()))
    return words;
  const std::string_view last = words.back();
  const bool is_word = last != "*" && last != "&" && last != ")" && last != "...";
  const bool follows_type = std::any_of(words.begin(), words.end() - 1,
                                        [](std::string_view w) { return !is_qualifier(w); });
  if (is_word && follows_type && words[words.size() - 2] != "::") {
    name = last;
    words.pop_back();
  }
  return words;
}

std::string spelled(const Words& words) {
  std::string out;
  std::string_view before;
  for (const std::string_view word : words) {
    const bool tight = before.empty() || before == "::" || word == "::" || word == "<" ||
                       before == "<" || word == ">" || word == "," || word == ")" ||
                       before == "(" || (before == "*" && word == "*");
    if (!tight) out += ' ';
    out += word;
    before = word;
  }
  return out;
}

Words followed(const Words& words, const TypeNames& names, int depth = 0) {
  constexpr int deepest = 8;  // ends cyclic aliases
  Words out;
  for (const std::string_view word : words) {
    const Words* meaning = depth < deepest ? names.find(word) : nullptr;
    if (meaning == nullptr) {
      out.push_back(word);
      continue;
    }
    const Words inner = followed(*meaning, names, depth + 1);
    // In "const pointer_type p" the pointer is const, not the pointee.
    const bool names_pointer = std::ranges::find(inner, "*") != inner.end();
    if (names_pointer && !out.empty() && out.back() == "const") out.pop_back();
    out.insert(out.end(), inner.begin(), inner.end());
  }
  return out;
}

}  // namespace

void TypeNames::add(std::string_view name, std::vector<std::string_view> words) {
  const auto [entry, is_new] = words_.try_emplace(name, words);
  if (!is_new && entry->second != words) entry->second.clear();
}

const std::vector<std::string_view>* TypeNames::find(std::string_view name) const {
  const auto found = words_.find(name);
  return found == words_.end() || found->second.empty() ? nullptr : &found->second;
}

void read_type_name(std::span<const Token> declaration, TypeNames& names) {
  Words words;
  for (const Token& token : declaration) {
    if (token.kind == Token::Kind::directive) continue;
    if (token.text == "(" || token.text == "[" || token.text == "{" || token.text == ",") return;
    words.push_back(token.text);
  }
  if (words.size() >= 3 && words.front() == "typedef") {
    names.add(words.back(), Words(words.begin() + 1, words.end() - 1));
  } else if (words.size() >= 4 && words[0] == "using" && words[2] == "=") {
    names.add(words[1], Words(words.begin() + 3, words.end()));
  }
}

SourceParameter read_parameter(std::span<const Token> tokens, const TypeNames& names) {
  SourceParameter parameter;
  bool is_array = false;
  Words words = without_default_and_name(tokens, parameter.name, is_array);
  if (is_array) words.push_back("*");
  parameter.type = spelled(words);

  // Tokens after the last star qualify the pointer; those before it are the pointee.
  words = followed(words, names);
  const auto stars = std::ranges::count(words, "*");
  parameter.is_pointer = stars > 0;
  if (parameter.is_pointer) {
    words.erase(std::find(words.rbegin(), words.rend(), "*").base() - 1, words.end());
    const auto inner = std::find(words.rbegin(), words.rend(), "*").base();
    parameter.is_const = std::find(inner, words.end(), "const") != words.end();
  }
  if (stars <= 1 && std::ranges::find(words, "&") == words.end()) {
    std::erase_if(words, is_qualifier);
    parameter.dtype = c_dtype(words);
  }
  return parameter;
}

}  // namespace spanwise::source
