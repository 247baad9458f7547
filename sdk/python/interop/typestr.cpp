// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "typestr.hpp"

#include <bit>
#include <charconv>
#include <cstddef>

#include "spanwise/core/error.hpp"

namespace spanwise::python {
namespace {

constexpr char native_order = std::endian::native == std::endian::little ? '<' : '>';
constexpr std::string_view kind_letters = "iufVVcb";  // by DTypeCode; V: opaque and bfloat
constexpr char swapped_order = std::endian::native == std::endian::little ? '>' : '<';

[[noreturn]] void fail_kind(std::string_view type_text, std::string_view remedy,
                            std::string_view prefix) {
  fail<DTypeError>(prefix, ": Spanwise has no dtype for elements of type \"", type_text, "\"; ",
                   remedy);
}

DType of_kind(DTypeCode code, int bytes, std::string_view type_text, std::string_view prefix) {
  const bool is_known = (bytes > 0 && bytes <= 16) && DType(code, 8 * bytes).is_computable();
  if (!is_known)
    fail_kind(type_text, "convert them to a narrower type, for instance float64", prefix);
  return DType(code, 8 * bytes);
}

}  // namespace

char kind_letter(DType dtype) noexcept {
  return dtype.lanes() == 1 ? kind_letters[static_cast<std::size_t>(dtype.code())] : 'V';
}

std::optional<DTypeCode> code_of_kind(char letter) noexcept {
  const std::size_t code = kind_letters.find(letter);
  if (letter == 'V' || code == std::string_view::npos) return std::nullopt;
  return static_cast<DTypeCode>(code);
}

ElementType element_from_typestr(std::string_view typestr, std::string_view prefix) {
  int bytes = 0;
  const bool has_bytes = typestr.size() >= 3;
  const char* last = typestr.data() + typestr.size();
  if (has_bytes) {
    const auto [end, error] = std::from_chars(typestr.data() + 2, last, bytes);
    if (error != std::errc{} || (end != last && *end != '[')) bytes = 0;  // "<M8[ns]" has a unit
  }
  if (!has_bytes || bytes <= 0)
    fail<BridgeError>(prefix, ": type string \"", typestr,
                      "\"; expected byte order, kind and bytes, such as \"<f4\"");
  const bool swapped = typestr[0] == swapped_order;
  if (const auto code = code_of_kind(typestr[1]))
    return {of_kind(*code, bytes, typestr, prefix), swapped && *code != DTypeCode::bool_};
  switch (typestr[1]) {
    case 'V':
      // PyTorch and ml_dtypes write bfloat16 as "<V2"; structs have no byte order ("|V2").
      if (bytes == 2 && typestr[0] != '|') return {bfloat16, swapped};
      fail_kind(typestr, "view one field of the struct, or the bytes as uint8", prefix);
    case 'm':
    case 'M':
      fail_kind(typestr, "view the times as int64: x.view('int64')", prefix);
    case 'O':
      fail_kind(typestr, "convert the objects to numbers: x.astype('float64')", prefix);
    default:
      fail_kind(typestr, "convert them to numbers first", prefix);
  }
}

ElementType element_from_format(std::string_view format, int itemsize, std::string_view prefix) {
  std::string_view code = format;
  bool swapped = false;
  if (!code.empty() && std::string_view("@=<>!").find(code[0]) != std::string_view::npos) {
    const char order = code[0] == '!' ? '>' : code[0];
    swapped = order == swapped_order;
    code.remove_prefix(1);
  }
  // PEP 3118 writes complex as "Zf" and "Zd"; some libraries use NumPy's 'F' and 'D'.
  if (code == "Zf" || code == "Zd" || code == "F" || code == "D")
    return {of_kind(DTypeCode::complex, itemsize, format, prefix), swapped};
  if (code.size() == 1) {
    if (code[0] == '?') return {of_kind(DTypeCode::bool_, itemsize, format, prefix), false};
    if (std::string_view("bhilqn").find(code[0]) != std::string_view::npos)
      return {of_kind(DTypeCode::int_, itemsize, format, prefix), swapped};
    if (std::string_view("BHILQNc").find(code[0]) != std::string_view::npos)
      return {of_kind(DTypeCode::uint, itemsize, format, prefix), swapped};
    if (std::string_view("efd").find(code[0]) != std::string_view::npos)
      return {of_kind(DTypeCode::float_, itemsize, format, prefix), swapped};
  }
  fail_kind(format, "cast the buffer to numbers first: memoryview(x).cast('B')", prefix);
}

std::string typestr_of(DType dtype) {
  const char order = dtype.itemsize() == 1 ? '|' : native_order;
  return text(order, kind_letter(dtype), dtype.itemsize());
}

}  // namespace spanwise::python
