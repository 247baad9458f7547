// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kinds.hpp"

namespace spanwise::ops::reduce {

const KindInfo& info(Kind kind) noexcept {
  static constexpr KindInfo table[kind_count] = {
      {"Sum", false, false},      {"Product", false, false}, {"NanSum", false, false},
      {"Deviation", false, true}, {"Minimum", false, false}, {"Maximum", false, false},
      {"Any", false, false},      {"All", false, false},     {"Count", false, false},
      {"Minimum", true, false},   {"Maximum", true, false}};
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

}  // namespace spanwise::ops::reduce
