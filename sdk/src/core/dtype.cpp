// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <numeric>
#include <optional>
#include <ostream>

#include "core/string_utils.hpp"
#include "spanwise/core/dtype.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise {
namespace {

struct SmallFloat {
  int code;
  int bits;
  std::string_view name;
};

// DLPack 1.3's codes 7 to 17 (DLDataTypeCode), which imply the width.
constexpr std::array<SmallFloat, 11> small_floats{{{7, 8, "float8_e3m4"},
                                                   {8, 8, "float8_e4m3"},
                                                   {9, 8, "float8_e4m3b11fnuz"},
                                                   {10, 8, "float8_e4m3fn"},
                                                   {11, 8, "float8_e4m3fnuz"},
                                                   {12, 8, "float8_e5m2"},
                                                   {13, 8, "float8_e5m2fnuz"},
                                                   {14, 8, "float8_e8m0fnu"},
                                                   {15, 6, "float6_e2m3fn"},
                                                   {16, 6, "float6_e3m2fn"},
                                                   {17, 4, "float4_e2m1fn"}}};

// The names of codes 0 to 6, each followed by the width.
constexpr std::array<std::string_view, 7> kinds{"int",    "uint",    "float", "opaque",
                                                "bfloat", "complex", "bool"};

std::string element_name(DTypeCode code, int bits) {
  if (code == DTypeCode::bool_ && bits == 8) return "bool";
  const auto number = static_cast<std::size_t>(code);
  if (number < kinds.size()) return text(kinds[number], bits);
  for (const SmallFloat& kind : small_floats) {
    if (kind.code != static_cast<int>(code)) continue;
    return kind.bits == bits ? std::string(kind.name) : text(kind.name, "_", bits);
  }
  return text("dlpack", number, "_", bits);
}

// Parses a positive integer; 0 where `digits` is not one.
int parse_positive(std::string_view digits) {
  return std::max(parse_number(digits).value_or(0), 0);
}

std::optional<DType> parse_element(std::string_view name, int lanes) {
  if (name == "bool") return DType(DTypeCode::bool_, 8, lanes);
  for (const SmallFloat& kind : small_floats)
    if (name == kind.name) return DType(static_cast<DTypeCode>(kind.code), kind.bits, lanes);
  for (std::size_t code = 0; code < kinds.size(); ++code) {
    if (!name.starts_with(kinds[code])) continue;
    const int bits = parse_positive(name.substr(kinds[code].size()));
    if (bits > 0) return DType(static_cast<DTypeCode>(code), bits, lanes);
  }
  return std::nullopt;
}

[[noreturn]] void fail_to_parse(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> without_bits[] = {
      {"float", "; C's float is float32, NumPy's is float64"},
      {"int", "; C's int is int32, NumPy's is int64"},
      {"double", "; it is float64"},
      {"half", "; it is float16"},
      {"long", "; it is int64"},
      {"complex", "; NumPy's is complex128"}};
  std::string_view remedy;
  for (const auto& [word, meaning] : without_bits)
    if (name == word) remedy = meaning;
  fail<DTypeError>(
      "dtype: \"", name,
      "\" names no dtype; expected bool, int8, int16, int32, int64, uint8, uint16, "
      "uint32, uint64, float16, bfloat16, float32, float64, complex64, complex128, or one "
      "that can only be moved, such as float8_e4m3fn, opaque24 or float32x4",
      remedy);
}

}  // namespace

DType::DType(DTypeCode code, int bits, int lanes)
    : code_(code),
      bits_(static_cast<std::uint8_t>(bits)),
      lanes_(static_cast<std::uint16_t>(lanes)) {
  if (bits <= 0 || bits > 255 || lanes <= 0 || lanes > 65535)
    fail<DTypeError>("dtype: ", bits, " bits in ", lanes,
                     " lanes; expected 1 to 255 bits in 1 to 65535 lanes");
  if (bits * lanes % 8 == 0) return;
  const std::string element = element_name(code, bits);
  fail<DTypeError>("dtype: ", lanes, " x ", element, " is ", bits * lanes,
                   " bits, no whole number of bytes; pack more lanes (\"", element, "x",
                   8 / std::gcd(bits, 8), "\")");
}

DType DType::parse(std::string_view name) {
  if (const std::optional<DType> element = parse_element(name, 1)) return *element;
  // The lanes follow the last x. Tried second, since "complex64" contains an x.
  const auto x = name.rfind('x');
  const int lanes = x != name.npos ? parse_positive(name.substr(x + 1)) : 0;
  const auto vector = lanes > 0 ? parse_element(name.substr(0, x), lanes) : std::nullopt;
  if (!vector) fail_to_parse(name);
  return *vector;
}

std::string DType::name() const {
  std::string name = element_name(code_, bits_);
  if (lanes_ != 1) name += text("x", lanes_);
  return name;
}

bool DType::is_computable() const noexcept {
  if (lanes_ != 1) return false;
  if (is_integer()) return bits_ == 8 || bits_ == 16 || bits_ == 32 || bits_ == 64;
  if (code_ == DTypeCode::float_) return bits_ == 16 || bits_ == 32 || bits_ == 64;
  if (code_ == DTypeCode::bfloat) return bits_ == 16;
  if (is_complex()) return bits_ == 64 || bits_ == 128;
  return is_bool() && bits_ == 8;
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << dtype.name(); }

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
