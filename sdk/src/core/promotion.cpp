// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "spanwise/core/dtype.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise {
namespace {

// The floating dtype for the values of `dtype`, by NumPy's table. Integers of 64 bits give float64
// too, which rounds them.
DType floating_for(DType dtype) {
  if (dtype.is_floating()) return dtype;
  if (dtype.is_complex()) return dtype == complex64 ? float32 : float64;
  return dtype.itemsize() == 1 ? float16 : dtype.itemsize() == 2 ? float32 : float64;
}

DType larger_floating(DType a, DType b) {
  // float16 and bfloat16: neither holds the other's values.
  if (a != b && a.itemsize() == b.itemsize()) return float32;
  return a.itemsize() >= b.itemsize() ? a : b;
}

DType promote_integers(DType a, DType b) {
  if (a.code() == b.code()) return a.bits() >= b.bits() ? a : b;
  const DType signed_dtype = a.code() == DTypeCode::int_ ? a : b;
  const DType unsigned_dtype = a.code() == DTypeCode::int_ ? b : a;
  if (signed_dtype.bits() > unsigned_dtype.bits()) return signed_dtype;
  // The next wider signed type; there is none above uint64.
  return unsigned_dtype.bits() == 64 ? float64 : DType(DTypeCode::int_, 2 * unsigned_dtype.bits());
}

// bfloat16 represents 8-bit integers exactly, which floating_for() maps to float16.
DType promote_floating(DType a, DType b) {
  const auto is_byte = [](DType dtype) {
    return dtype.is_bool() || (dtype.is_integer() && dtype.itemsize() == 1);
  };
  if (a == bfloat16 && is_byte(b)) return a;
  if (b == bfloat16 && is_byte(a)) return b;
  return larger_floating(floating_for(a), floating_for(b));
}

// The position of a dtype in the order of kinds by which casting="same_kind" only goes up.
int kind_rank(DType dtype) {
  if (dtype.is_bool()) return 0;
  if (dtype.is_integer()) return dtype.code() == DTypeCode::uint ? 1 : 2;
  return dtype.is_floating() ? 3 : 4;
}

}  // namespace

DType promote(DType a, DType b) {
  for (const DType dtype : {a, b})
    if (!dtype.is_computable())
      fail<DTypeError>("promote: ", dtype, " (with ", dtype == a ? b : a,
                       ") cannot be computed on; cast it to a computable dtype first");
  if (a == b || b.is_bool()) return a;
  if (a.is_bool()) return b;
  if (a.is_integer() && b.is_integer()) return promote_integers(a, b);
  if (!a.is_complex() && !b.is_complex()) return promote_floating(a, b);
  const bool single = floating_for(a).itemsize() <= 4 && floating_for(b).itemsize() <= 4;
  return single ? complex64 : complex128;
}

DType promote(std::span<const DType> dtypes) {
  const auto category = [](DType dtype) {
    return dtype.is_complex() ? 3 : dtype.is_floating() ? 2 : dtype.is_integer() ? 1 : 0;
  };
  if (dtypes.empty()) fail<ArgumentError>("promote: expected at least one dtype, got none");
  std::optional<DType> common;
  for (int current = 3; current >= 0; --current)
    for (const DType dtype : dtypes)
      if (category(dtype) == current) common = common ? promote(*common, dtype) : dtype;
  return *common;
}

bool can_cast(DType from, DType to, Casting casting) {
  if (from == to) return true;
  if (casting == Casting::no || casting == Casting::equiv) return false;
  if (!from.is_computable() || !to.is_computable()) return false;
  if (casting == Casting::safe) return promote(from, to) == to;
  return casting == Casting::unsafe || kind_rank(from) <= kind_rank(to);
}

}  // namespace spanwise
