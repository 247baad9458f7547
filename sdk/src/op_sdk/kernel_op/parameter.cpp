// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "op_sdk/kernel_op/parameter.hpp"

#include <cctype>

#include "core/string_utils.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/parse/element_text.hpp"

namespace spanwise::op_sdk {
namespace {

constexpr std::string_view grammar =
    "expected \"name: layout dtype[extents]\", for example \"image: strided uint8[h, w, 3]\", "
    "where layout is contiguous or strided";

// Removes the text up to the first of the characters `stop`, and that character, from `remaining`;
// returns the text without white space around it.
std::string_view take_until(std::string_view stop, std::string_view& remaining) {
  const std::size_t end = remaining.find_first_of(stop);
  const std::string_view part = trimmed(remaining.substr(0, end));
  remaining = end == std::string_view::npos ? std::string_view() : remaining.substr(end + 1);
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
  const auto expect = [&](bool condition, const auto&... problem) {
    if (!condition) fail<ArgumentError>(caller, ": ", problem...);
  };
  DeclaredParameter parameter;
  std::string_view remaining = trimmed(declaration);
  expect(remaining.find(':') != std::string_view::npos, grammar);
  parameter.name = take_until(":", remaining);
  expect(is_identifier(parameter.name), "\"", parameter.name, "\" is no name; ", grammar);
  remaining = trimmed(remaining);
  const std::string_view layout = take_until(" \t", remaining);
  expect(layout == "contiguous" || layout == "strided", "unknown layout \"", layout, "\"; ",
         grammar);
  parameter.strided = layout == "strided";

  remaining = trimmed(remaining);
  const bool has_extents = remaining.find('[') != std::string_view::npos;
  expect(!has_extents || remaining.back() == ']', "\"[\" without \"]\" at the end; ", grammar);
  const std::string_view dtype = take_until("[", remaining);
  if (dtype.size() == 1 && std::isupper(static_cast<unsigned char>(dtype[0]))) {
    parameter.dtype_letter = dtype[0];
  } else {
    expect(is_identifier(dtype), "\"", dtype, "\" is no dtype; ", grammar);
    parameter.dtype = DType::parse(dtype);
  }
  if (has_extents) {
    remaining.remove_suffix(1);
    for (const std::string_view extent : split_extents(remaining))
      parameter.extents.push_back(Expression::parse(extent, names, caller));
  }
  expect(!parameter.strided || parameter.rank() > 0,
         "a strided parameter has at least one axis; declare it contiguous, as a pointer");
  return parameter;
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
