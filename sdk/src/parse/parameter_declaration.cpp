// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "parse/parameter_declaration.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/string_utils.hpp"

namespace spanwise::parse {
namespace {

using Words = std::vector<std::string_view>;

std::optional<DType> named_dtype(std::string_view name) {
  static const auto& names =
      *new std::map<std::string_view, DType>{{"int8_t", int8},
                                             {"int16_t", int16},
                                             {"int32_t", int32},
                                             {"int64_t", int64},
                                             {"uint8_t", uint8},
                                             {"uint16_t", uint16},
                                             {"uint32_t", uint32},
                                             {"uint64_t", uint64},
                                             {"size_t", uint64},
                                             {"ptrdiff_t", int64},
                                             {"ssize_t", int64},
                                             {"intptr_t", int64},
                                             {"uintptr_t", uint64},
                                             {"intmax_t", int64},
                                             {"uintmax_t", uint64},
                                             {"uchar", uint8},
                                             {"ushort", uint16},
                                             {"uint", uint32},
                                             {"ulong", uint64},
                                             {"half", float16},
                                             {"__half", float16},
                                             {"_Float16", float16},
                                             {"nv_bfloat16", bfloat16},
                                             {"__nv_bfloat16", bfloat16},
                                             {"cuComplex", complex64},
                                             {"cuFloatComplex", complex64},
                                             {"cuDoubleComplex", complex128}};
  const auto entry = names.find(name);
  return entry == names.end() ? std::nullopt : std::optional(entry->second);
}

// "unsigned long long int" and similar, in any order.
std::optional<DType> builtin_dtype(std::span<const std::string_view> tokens) {
  const auto count = [&](std::string_view word) { return std::ranges::count(tokens, word); };
  if (!std::ranges::all_of(tokens, is_type_keyword)) return {};
  if (count("void") || count("auto")) return {};
  if (count("bool") || count("_Bool")) return bool_;
  if (count("float")) return float32;
  if (count("double")) return count("long") ? std::nullopt : std::optional(float64);
  const bool is_unsigned = count("unsigned") > 0;
  if (count("char")) return is_unsigned ? uint8 : int8;
  if (count("short")) return is_unsigned ? uint16 : int16;
  if (count("long")) return is_unsigned ? uint64 : int64;
  return is_unsigned ? uint32 : int32;
}

// complex<float> of std, cuda::std, thrust and pycuda has the layout of complex64.
std::optional<DType> complex_dtype(std::span<const std::string_view> tokens) {
  if (tokens.size() != 4 || tokens[0] != "complex" || tokens[1] != "<" || tokens[3] != ">")
    return {};
  if (tokens[2] == "float") return complex64;
  if (tokens[2] == "double") return complex128;
  return {};
}

}  // namespace

bool is_type_keyword(std::string_view word) {
  static constexpr std::array<std::string_view, 12> keywords{
      "void", "bool",   "_Bool",    "char",  "short",  "int",
      "long", "signed", "unsigned", "float", "double", "auto"};
  return std::ranges::find(keywords, word) != keywords.end();
}

std::optional<DType> c_dtype(std::span<const std::string_view> tokens) {
  // Without the namespace: std::uint8_t, ::size_t, thrust::complex<float>.
  const auto colon = std::find(tokens.rbegin(), tokens.rend(), "::");
  tokens = tokens.last(static_cast<std::size_t>(colon - tokens.rbegin()));
  if (tokens.empty()) return {};
  if (tokens.size() == 1 && !is_type_keyword(tokens[0])) return named_dtype(tokens[0]);
  if (const auto complex = complex_dtype(tokens)) return complex;
  return builtin_dtype(tokens);
}

namespace {

bool is_restrict(std::string_view word) {
  return is_one_of(word, {"__restrict__", "__restrict", "restrict"});
}
// Keywords of a parameter that are neither its type nor its name.
bool is_qualifier(std::string_view word) {
  return is_one_of(word, {"const", "volatile", "struct", "class", "union", "enum", "typename",
                          "__grid_constant__", "register"});
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

bool begins_with_layout(const Words& words, Dialect dialect) {
  if (words.empty() || dialect == Dialect::c) return false;
  if (dialect == Dialect::cupy) return words.size() == 3 && words[0] == "raw";
  return dialect == Dialect::kernel_op || is_one_of(words[0], {"raw", "contiguous", "strided"});
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

void TypeAliases::read(std::span<const Token> declaration) {
  Words words;
  for (const Token& token : declaration) {
    if (token.kind == Token::Kind::directive) continue;
    if (token.text == "(" || token.text == "[" || token.text == "{" || token.text == ",") return;
    words.push_back(token.text);
  }
  if (words.size() >= 3 && words.front() == "typedef") {
    add(words.back(), Words(words.begin() + 1, words.end() - 1));
  } else if (words.size() >= 4 && words[0] == "using" && words[2] == "=") {
    add(words[1], Words(words.begin() + 3, words.end()));
  }
}

ParameterDeclaration parse_parameter(std::span<const Token> tokens, Dialect dialect,
                                     const TypeAliases& aliases) {
  ParameterDeclaration parameter;
  if (dialect == Dialect::kernel_op) {
    const auto colon = std::ranges::find(tokens, ":", &Token::text);
    parameter.name = joined(std::span(tokens.begin(), colon), " ", &Token::text);
    tokens = {colon == tokens.end() ? colon : colon + 1, tokens.end()};
  }
  const auto end = std::ranges::find_if(
      tokens, [](const Token& token) { return token.text == "[" || token.text == "="; });
  parameter.extents = joined(std::span(end, tokens.end()), "", &Token::text);
  Words words;
  for (const Token& token : std::span(tokens.begin(), end))
    if (token.kind != Token::Kind::directive && !is_restrict(token.text))
      words.push_back(token.text);
  if (begins_with_layout(words, dialect)) {
    parameter.layout = words.front();
    words.erase(words.begin());
  }
  if (dialect != Dialect::kernel_op && ends_with_name(words)) {
    parameter.name = words.back();
    words.pop_back();
  }
  if (dialect == Dialect::c && parameter.extents.starts_with('[')) words.push_back("*");
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
  } else if (dialect == Dialect::bind) {
    parameter.is_const = std::ranges::find(words, "const") != words.end();
  }
  std::erase_if(words,
                [](std::string_view word) { return is_one_of(word, {"const", "volatile"}); });
  parameter.element = type_text(words);
  if (stars <= 1 && std::ranges::find(words, "&") == words.end()) {
    std::erase_if(words, is_qualifier);
    parameter.dtype = c_dtype(words);
  }
  return parameter;
}

std::vector<ParameterDeclaration> parse_parameters(std::span<const Token> list,
                                                   const TypeAliases& aliases) {
  std::vector<ParameterDeclaration> parameters;
  for (const std::span<const Token> part : split_at_commas(list)) {
    const bool is_void = part.size() == 1 && part[0].text == "void";
    if (!part.empty() && !is_void) parameters.push_back(parse_parameter(part, Dialect::c, aliases));
  }
  return parameters;
}

}  // namespace spanwise::parse
