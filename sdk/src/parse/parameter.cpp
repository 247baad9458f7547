// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "parse/parameter.hpp"

#include <algorithm>
#include <string>

#include "core/string_utils.hpp"
#include "spanwise/parse/token.hpp"

namespace spanwise::parse {
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
// The words of type and name, without "restrict".
Words type_and_name(std::span<const Token> tokens) {
  Words words;
  for (const Token& token : tokens)
    if (token.kind != Token::Kind::directive && !is_restrict(token.text))
      words.push_back(token.text);
  return words;
}

// Whether the last word is the name of the parameter, not a part of its type.
bool ends_with_name(const Words& words) {
  const auto is_unnamed_end = [](std::string_view word) {
    return is_one_of(word, {">", "*", "&", ")", "..."}) || is_type_keyword(word) ||
           is_qualifier(word);
  };
  if (words.size() < 2 || is_unnamed_end(words.back()) || words[words.size() - 2] == "::")
    return false;
  return !std::all_of(words.begin(), words.end() - 1, is_qualifier);
}

// The text of a type, with spaces where C++ code usually has them.
std::string type_text(const Words& words) {
  std::string out;
  std::string_view before;
  for (const std::string_view word : words) {
    const bool is_tight = before.empty() || before == "::" || word == "::" || word == "<" ||
                          before == "<" || word == ">" || word == "," || word == ")" ||
                          before == "(" || (before == "*" && word == "*");
    if (!is_tight) out += ' ';
    out += word;
    before = word;
  }
  return out;
}

Words expand_aliases(const Words& words, const TypeAliases& aliases, int depth = 0) {
  constexpr int max_depth = 8;  // ends cyclic aliases
  Words out;
  for (const std::string_view word : words) {
    const Words* meaning = depth < max_depth ? aliases.find(word) : nullptr;
    if (meaning == nullptr) {
      out.push_back(word);
      continue;
    }
    const Words inner = expand_aliases(*meaning, aliases, depth + 1);
    // In "const pointer_type p" the pointer is const, not the pointee.
    const bool names_pointer = std::ranges::find(inner, "*") != inner.end();
    if (names_pointer && !out.empty() && out.back() == "const") out.pop_back();
    out.insert(out.end(), inner.begin(), inner.end());
  }
  return out;
}

}  // namespace

void TypeAliases::add(std::string_view name, std::vector<std::string_view> words) {
  const auto [entry, is_new] = words_.try_emplace(name, words);
  if (!is_new && entry->second != words) entry->second.clear();  // ambiguous
}

const std::vector<std::string_view>* TypeAliases::find(std::string_view name) const {
  const auto entry = words_.find(name);
  return entry == words_.end() || entry->second.empty() ? nullptr : &entry->second;
}

void read_alias(std::span<const Token> declaration, TypeAliases& aliases) {
  Words words;
  for (const Token& token : declaration) {
    if (token.kind == Token::Kind::directive) continue;
    if (token.text == "(" || token.text == "[" || token.text == "{" || token.text == ",") return;
    words.push_back(token.text);
  }
  if (words.size() >= 3 && words.front() == "typedef") {
    aliases.add(words.back(), Words(words.begin() + 1, words.end() - 1));
  } else if (words.size() >= 4 && words[0] == "using" && words[2] == "=") {
    aliases.add(words[1], Words(words.begin() + 3, words.end()));
  }
}

SourceParameter read_parameter(std::span<const Token> tokens, const TypeAliases& aliases) {
  SourceParameter parameter;
  const auto end = std::ranges::find_if(tokens, [](const Token& token) {
    return token.text == "[" || token.text == "=";  // extents or the default value
  });
  Words words = type_and_name({tokens.begin(), end});
  if (ends_with_name(words)) {
    parameter.name = words.back();
    words.pop_back();
  }
  if (end != tokens.end() && end->text == "[") words.push_back("*");
  parameter.type = type_text(words);

  // Tokens after the last star qualify the pointer; those before it are the pointee.
  words = expand_aliases(words, aliases);
  const auto stars = std::ranges::count(words, "*");
  parameter.is_pointer = stars > 0;
  if (parameter.is_pointer) {
    words.erase(std::find(words.rbegin(), words.rend(), "*").base() - 1, words.end());
    // A pointee that is itself a pointer is qualified after its own star.
    const auto qualifiers = std::find(words.rbegin(), words.rend(), "*").base();
    parameter.is_const = std::find(qualifiers, words.end(), "const") != words.end();
  }
  if (stars <= 1 && std::ranges::find(words, "&") == words.end()) {
    std::erase_if(words, is_qualifier);
    parameter.dtype = c_dtype(words);
  }
  return parameter;
}

}  // namespace spanwise::parse
