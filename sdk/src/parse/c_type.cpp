// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/parse/token.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace spanwise::parse {
namespace {

using Tokens = std::span<const std::string_view>;

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
std::optional<DType> builtin_dtype(Tokens tokens) {
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
std::optional<DType> complex_dtype(Tokens tokens) {
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

std::optional<DType> c_dtype(Tokens tokens) {
  // Without the namespace: std::uint8_t, ::size_t, thrust::complex<float>.
  const auto colon = std::find(tokens.rbegin(), tokens.rend(), "::");
  tokens = tokens.last(static_cast<std::size_t>(colon - tokens.rbegin()));
  if (tokens.empty()) return {};
  if (tokens.size() == 1 && !is_type_keyword(tokens[0])) return named_dtype(tokens[0]);
  if (const auto complex = complex_dtype(tokens)) return complex;
  return builtin_dtype(tokens);
}

}  // namespace spanwise::parse
