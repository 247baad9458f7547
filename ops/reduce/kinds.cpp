// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kinds.hpp"

namespace spanwise::ops::reduce {

const KindFacts& facts(Kind kind) noexcept {
  static constexpr KindFacts table[kind_count] = {
      {"Sum", false, false, true},          {"Product", false, false, true},
      {"SumOfNumbers", false, false, true}, {"Deviation", false, true, true},
      {"Lowest", false, false, false},      {"Highest", false, false, false},
      {"Any", false, false, true},          {"All", false, false, true},
      {"Count", false, false, true},        {"Lowest", true, false, false},
      {"Highest", true, false, false}};
  return table[static_cast<int>(kind)];
}

DType accumulator_for(Kind kind, DType element, bool inexact) noexcept {
  switch (kind) {
    case Kind::any:
    case Kind::all:
      return bool_;
    case Kind::count:
      return int64;
    case Kind::deviation:
      return float64;
    case Kind::sum:
    case Kind::prod:
    case Kind::nansum:
      if (element.is_complex()) return complex128;
      return element.is_floating() || inexact ? float64 : int64;
    default:
      return is_half(element) ? float32 : element;
  }
}

const char* type_text(DType dtype) noexcept {
  if (dtype == float16) return "Half";
  if (dtype == bfloat16) return "BFloat";
  switch (dtype.code()) {
    case DTypeCode::bool_:
      return "Bool";
    case DTypeCode::int_:
      return dtype == int8    ? "signed char"
             : dtype == int16 ? "short"
             : dtype == int32 ? "int"
                              : "long long";
    case DTypeCode::uint:
      return dtype == uint8    ? "unsigned char"
             : dtype == uint16 ? "unsigned short"
             : dtype == uint32 ? "unsigned int"
                               : "unsigned long long";
    case DTypeCode::complex:
      return dtype == complex64 ? "Complex<float>" : "Complex<double>";
    default:
      return dtype == float32 ? "float" : "double";
  }
}

}  // namespace spanwise::ops::reduce
