// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/parse/c_text.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "core/string_utils.hpp"
#include "parse/lexer.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise {
namespace {

struct ElementName {
  DType dtype;
  const char* name;
};

// long long, not long: they have the same size but are distinct types in template resolution.
constexpr ElementName element_names[] = {
    {bool_, "Bool"},          {int8, "signed char"},         {uint8, "unsigned char"},
    {int16, "short"},         {uint16, "unsigned short"},    {int32, "int"},
    {uint32, "unsigned int"}, {int64, "long long"},          {uint64, "unsigned long long"},
    {float16, "Half"},        {bfloat16, "BFloat"},          {float32, "float"},
    {float64, "double"},      {complex64, "Complex<float>"}, {complex128, "Complex<double>"}};

}  // namespace

const char* element_text(DType dtype) {
  for (const ElementName& element : element_names)
    if (element.dtype == dtype) return element.name;
  fail<DTypeError>(
      "kernels: expected a dtype that can be computed on, got ", dtype,
      ", whose elements have no type in CUDA C. Remedy: convert with astype(), or move "
      "them as words");
}

const char* word_text(int bytes) {
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
    fail<DTypeError>("kernels: expected a word of 1, 2, 4 or 8 bytes, got ", bytes,
                     ". Remedy: move the elements in several words");
  return element_text(DType(DTypeCode::uint, 8 * bytes));
}

}  // namespace spanwise

namespace spanwise::parse {

bool has_token(std::string_view code, std::string_view name) {
  const std::vector<Token> tokens = lex(code);
  return std::ranges::find(tokens, name, &Token::text) != tokens.end();
}

std::string with_line_directives(std::string_view label, std::string_view code) {
  if (code.empty()) return "";
  return text("\n#line 1 ", c_literal(label), "\n", code, "\n#line 1 \"made by Spanwise\"\n");
}

std::string element_statements(std::string_view label, std::string_view code) {
  const std::string lines =
      with_line_directives(label, code.empty() ? std::string() : text(code, "\n;"));
  return has_token(code, "return") ? text("    [&] { do {", lines, "} while (0); }();\n") : lines;
}

std::string c_literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + "\"";
}

std::string with_line_numbers(std::string_view source) {
  std::string out;
  int number = 1;
  for (const std::string_view line : split(source, '\n')) {
    char prefix[16];
    std::snprintf(prefix, sizeof prefix, "%5d | ", number++);
    out.append(prefix).append(line).append("\n");
  }
  return out;
}

}  // namespace spanwise::parse
