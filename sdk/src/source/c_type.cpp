// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "source/c_type.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace spanwise::source {
namespace {

using Words = std::vector<std::string_view>;

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_restrict(std::string_view word) {
  return word == "__restrict__" || word == "__restrict" || word == "restrict";
}
// Keywords of a parameter that are neither its type nor its name.
bool is_qualifier(std::string_view word) {
  static constexpr std::array<std::string_view, 9> words{
      "const",    "volatile",          "struct",  "class", "union", "enum",
      "typename", "__grid_constant__", "register"};
  return is_one_of(word, words);
}
// C's type keywords, which can be combined ("unsigned long long") and never name a parameter.
bool is_builtin(std::string_view word) {
  static constexpr std::array<std::string_view, 12> words{"void",     "bool",  "_Bool",  "char",
                                                          "short",    "int",   "long",   "signed",
                                                          "unsigned", "float", "double", "auto"};
  return is_one_of(word, words);
}

std::optional<DType> named_dtype(std::string_view name) {
  static const std::map<std::string_view, DType> names{{"int8_t", int8},
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
  const auto found = names.find(name);
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

// "unsigned long long int" and similar, in any order; LP64, as in CUDA on Linux.
std::optional<DType> builtin_dtype(const Words& words) {
  const auto count = [&](std::string_view word) {
    return std::count(words.begin(), words.end(), word);
  };
  if (std::any_of(words.begin(), words.end(), [](std::string_view w) { return !is_builtin(w); }))
    return {};
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
std::optional<DType> complex_dtype(const Words& words) {
  if (words.size() != 4 || words[0] != "complex" || words[1] != "<" || words[3] != ">") return {};
  if (words[2] == "float") return complex64;
  if (words[2] == "double") return complex128;
  return {};
}

std::optional<DType> dtype_of(Words words) {
  // Removes a namespace prefix: std::uint8_t, ::size_t, thrust::complex<float>.
  const auto colon = std::find(words.rbegin(), words.rend(), "::");
  words.erase(words.begin(), colon.base());
  if (words.empty()) return {};
  if (words.size() == 1 && !is_builtin(words[0])) return named_dtype(words[0]);
  if (const auto complex = complex_dtype(words)) return complex;
  return builtin_dtype(words);
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
  if (words.empty() || words.back() == ">" || is_builtin(words.back()) ||
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
    const bool names_pointer = std::find(inner.begin(), inner.end(), "*") != inner.end();
    if (names_pointer && !out.empty() && out.back() == "const") out.pop_back();
    out.insert(out.end(), inner.begin(), inner.end());
  }
  return out;
}

}  // namespace

void TypeNames::add(std::string_view name, std::vector<std::string_view> words) {
  const auto [place, is_new] = words_.try_emplace(name, words);
  if (!is_new && place->second != words) place->second.clear();
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
  const auto stars = std::count(words.begin(), words.end(), "*");
  parameter.is_pointer = stars > 0;
  if (parameter.is_pointer) {
    words.erase(std::find(words.rbegin(), words.rend(), "*").base() - 1, words.end());
    const auto inner = std::find(words.rbegin(), words.rend(), "*").base();
    parameter.is_const = std::find(inner, words.end(), "const") != words.end();
  }
  if (stars <= 1 && std::find(words.begin(), words.end(), "&") == words.end()) {
    std::erase_if(words, is_qualifier);
    parameter.dtype = dtype_of(std::move(words));
  }
  return parameter;
}

}  // namespace spanwise::source
