// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "op_sdk/kernel_op/parameter.hpp"

#include <cctype>

#include "core/string_utils.hpp"
#include "spanwise/error.hpp"
#include "spanwise/source/element_text.hpp"

namespace spanwise::op_sdk {
namespace {

constexpr std::string_view grammar =
    "expected \"name: layout dtype[extents]\", for example \"image: strided uint8[h, w, 3]\", "
    "where layout is contiguous or strided";

bool is_identifier(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, is_word_character);
}

// Removes the text up to the first character of `stop`, and that character, from `rest`; returns
// the text.
std::string_view before(std::string_view& rest, std::string_view stop) {
  const std::size_t end = rest.find_first_of(stop);
  const std::string_view part = trimmed(rest.substr(0, end));
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

// Splits at commas outside parentheses.
std::vector<std::string_view> split_extents(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int nesting = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++nesting;
    if (i < text.size() && text[i] == ')') --nesting;
    if (i < text.size() && (text[i] != ',' || nesting > 0)) continue;
    parts.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (parts.back().empty()) parts.pop_back();  // "[]" and "[n,]"
  return parts;
}

}  // namespace

DeclaredParameter DeclaredParameter::parse(std::string_view declaration, Names& names,
                                           const std::string& where) {
  const std::string caller = text(where, ": in \"", declaration, "\"");
  const auto expect = [&](bool condition, const auto&... what) {
    if (!condition) fail<ArgumentError>(caller, ": ", what...);
  };
  DeclaredParameter parameter;
  std::string_view rest = trimmed(declaration);
  expect(rest.find(':') != std::string_view::npos, grammar);
  parameter.name = before(rest, ":");
  expect(is_identifier(parameter.name), "\"", parameter.name, "\" is no name; ", grammar);
  rest = trimmed(rest);
  const std::string_view layout = before(rest, " \t");
  expect(layout == "contiguous" || layout == "strided", "unknown layout \"", layout, "\"; ",
         grammar);
  parameter.strided = layout == "strided";

  rest = trimmed(rest);
  const bool has_extents = rest.find('[') != std::string_view::npos;
  expect(!has_extents || rest.back() == ']', "\"[\" without \"]\" at the end; ", grammar);
  const std::string_view dtype = before(rest, "[");
  if (dtype.size() == 1 && std::isupper(static_cast<unsigned char>(dtype[0]))) {
    parameter.dtype_letter = dtype[0];
  } else {
    expect(is_identifier(dtype), "\"", dtype, "\" is no dtype; ", grammar);
    parameter.dtype = DType::parse(dtype);
  }
  if (has_extents) {
    rest.remove_suffix(1);
    for (const std::string_view extent : split_extents(rest))
      parameter.extents.push_back(Expression::parse(extent, names, caller));
  }
  expect(!parameter.strided || parameter.rank() > 0,
         "a strided parameter has at least one axis; declare it contiguous, as a pointer");
  return parameter;
}

std::optional<DType> TypeBindings::find(char letter) const {
  for (const auto& [bound, dtype] : bound_)
    if (bound == letter) return dtype;
  return std::nullopt;
}

std::optional<DType> TypeBindings::dtype_of(const DeclaredParameter& parameter) const {
  return parameter.dtype ? parameter.dtype : find(parameter.dtype_letter);
}

CType c_type(DType dtype, const std::string& where) {
  // Types with other names than in the library's own kernels, which element_text() has.
  static const std::vector<std::pair<DType, CType>> types{
      {bool_, {"bool", ""}},
      {float16, {"__half", "cuda_fp16.h"}},
      {bfloat16, {"__nv_bfloat16", "cuda_bf16.h"}},
      {complex64, {"float2", ""}},
      {complex128, {"double2", ""}},
  };
  for (const auto& [known, type] : types)
    if (known == dtype) return type;
  if (dtype.is_computable()) return {element_text(dtype), ""};
  fail<ArgumentError>(where, ": no C type for dtype ", dtype);
}

}  // namespace spanwise::op_sdk
