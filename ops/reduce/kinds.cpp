// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "kinds.hpp"

namespace spanwise::ops::reduce {

const char* name_of(Operation op) noexcept {
  static constexpr const char* names[] = {"sum", "prod",          "nansum", "mean",  "var",
                                          "std", "min",           "max",    "ptp",   "any",
                                          "all", "count_nonzero", "argmin", "argmax"};
  return names[static_cast<int>(op)];
}

DType element_for(DType element, DType result) noexcept {
  if (result.is_complex()) return element;
  if (result.is_floating()) return element.is_complex() ? result : element;
  if (result.is_bool()) return bool_;
  return is_whole(element) ? element : result;
}

ReductionKind kind_of(Operation op, DType element) noexcept {
  switch (op) {
    case Operation::prod:
      return ReductionKind::prod;
    case Operation::nansum:
      return is_whole(element) ? ReductionKind::sum : ReductionKind::nansum;
    case Operation::min:
      return element.is_bool() ? ReductionKind::all : ReductionKind::min;
    case Operation::max:
      return element.is_bool() ? ReductionKind::any : ReductionKind::max;
    case Operation::any:
      return ReductionKind::any;
    case Operation::all:
      return ReductionKind::all;
    case Operation::count_nonzero:
      return ReductionKind::count;
    case Operation::argmin:
      return ReductionKind::argmin;
    case Operation::argmax:
      return ReductionKind::argmax;
    default:
      return ReductionKind::sum;
  }
}

ReductionTypes types_for(ReductionKind kind, DType& element, bool inexact) noexcept {
  const bool is_narrow = element.itemsize() < 8 && is_whole(element);
  if (inexact && kind == ReductionKind::prod && is_narrow) element = int64;
  if (kind == ReductionKind::prod && is_narrow)
    element = element.is_bool() || element.code() == DTypeCode::int_ ? int64 : uint64;
  if (kind == ReductionKind::deviation && is_whole(element)) element = float64;
  const bool as_real = inexact && !(kind == ReductionKind::sum && is_narrow);
  return {kind, element, accumulator_for(kind, element, as_real)};
}

DType result_dtype(Operation op, DType element, std::optional<DType> dtype) {
  switch (op) {
    case Operation::sum:
    case Operation::prod:
    case Operation::nansum:
      if (dtype) return *dtype;
      if (!is_whole(element)) return element;
      return element.code() == DTypeCode::uint ? uint64 : int64;
    case Operation::mean:
      return dtype.value_or(is_whole(element) ? float64 : element);
    case Operation::var:
    case Operation::std: {
      const DType wanted = dtype.value_or(is_whole(element) ? float64 : element);
      return wanted == complex64 ? float32 : wanted == complex128 ? float64 : wanted;
    }
    case Operation::any:
    case Operation::all:
      return bool_;
    case Operation::count_nonzero:
    case Operation::argmin:
    case Operation::argmax:
      return int64;
    default:
      return element;
  }
}

const KindInfo& info(ReductionKind kind) noexcept {
  static constexpr KindInfo table[kind_count] = {
      {"Sum", false, false},      {"Product", false, false}, {"NanSum", false, false},
      {"Deviation", false, true}, {"Minimum", false, false}, {"Maximum", false, false},
      {"Any", false, false},      {"All", false, false},     {"Count", false, false},
      {"Minimum", true, false},   {"Maximum", true, false}};
  return table[static_cast<int>(kind)];
}

DType accumulator_for(ReductionKind kind, DType element, bool inexact) noexcept {
  switch (kind) {
    case ReductionKind::any:
    case ReductionKind::all:
      return bool_;
    case ReductionKind::count:
      return int64;
    case ReductionKind::deviation:
      return float64;
    case ReductionKind::sum:
    case ReductionKind::prod:
    case ReductionKind::nansum:
      if (element.is_complex()) return complex128;
      return element.is_floating() || inexact ? float64 : int64;
    default:
      return is_half(element) ? float32 : element;
  }
}

}  // namespace spanwise::ops::reduce
