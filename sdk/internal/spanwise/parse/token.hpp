// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spanwise/core/dtype.hpp"
#include "spanwise/core/export.hpp"

namespace spanwise::parse {

/// Whether `word` is a type keyword of C: "unsigned", "long", "float", also "void" and "auto".
SW_API bool is_type_keyword(std::string_view word);

/// The dtype of a C or CUDA type, given as its tokens without qualifiers such as const: "unsigned",
/// "long"; "std", "::", "uint8_t"; "complex", "<", "float", ">"; "__half". Sizes are those of
/// CUDA on Linux: long has 64 bits. Nothing for other types, vector types such as float4 among
/// them.
SW_API std::optional<DType> c_dtype(std::span<const std::string_view> tokens);

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

}  // namespace spanwise::parse
