// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "spanwise/core/export.hpp"

namespace spanwise {

/// Kinds of element, with the values of DLPack 1.3's DLDataTypeCode, so that Spanwise can carry
/// every dtype of DLPack, even one that it cannot compute on.
enum class DTypeCode : std::uint8_t {
  int_ = 0,
  uint = 1,
  float_ = 2,
  opaque = 3,
  bfloat = 4,
  complex = 5,
  bool_ = 6,
};

/// Casting rules, as NumPy's `casting` argument.
enum class Casting { no, equiv, safe, same_kind, unsafe };

/// The type of one element: kind, width in bits, and lanes (1 but for vector types).
class SW_API DType {
 public:
  /// float32.
  constexpr DType() noexcept = default;
  /// Throws DTypeError where bits * lanes is 0 or no whole number of bytes.
  DType(DTypeCode code, int bits, int lanes = 1);
  /// "float32", "int8", "bool", "bfloat16", "complex64", ...; throws DTypeError naming the known
  /// ones.
  static DType parse(std::string_view name);

  constexpr DTypeCode code() const noexcept { return code_; }
  constexpr int bits() const noexcept { return bits_; }
  constexpr int lanes() const noexcept { return lanes_; }
  /// Bytes of one element, all lanes.
  constexpr int itemsize() const noexcept { return bits_ * lanes_ / 8; }
  /// NumPy's name where NumPy has the type, else DLPack's kind and width, e.g. "float8_e4m3fn".
  std::string name() const;

  bool is_bool() const noexcept { return code_ == DTypeCode::bool_; }
  bool is_integer() const noexcept { return code_ == DTypeCode::int_ || code_ == DTypeCode::uint; }
  bool is_floating() const noexcept {
    return code_ == DTypeCode::float_ || code_ == DTypeCode::bfloat;
  }
  bool is_complex() const noexcept { return code_ == DTypeCode::complex; }
  /// True for bool, (u)int8-64, float16/32/64, bfloat16 and complex64/128 with one lane: the dtypes
  /// that casts and ops accept.
  bool is_computable() const noexcept;

  friend constexpr bool operator==(DType, DType) noexcept = default;
  friend SW_API std::ostream& operator<<(std::ostream& out, DType dtype);

 private:
  struct Unchecked {};
  constexpr DType(Unchecked, DTypeCode code, int bits) noexcept
      : code_(code), bits_(static_cast<std::uint8_t>(bits)) {}
  friend struct DTypes;

  DTypeCode code_ = DTypeCode::float_;
  std::uint8_t bits_ = 32;
  std::uint16_t lanes_ = 1;
};

/// Makes dtypes in constant expressions, where DType's constructor, which checks, cannot be used.
struct DTypes {
  static constexpr DType make(DTypeCode code, int bits) noexcept {
    return {DType::Unchecked{}, code, bits};
  }
};

inline constexpr DType bool_ = DTypes::make(DTypeCode::bool_, 8);
inline constexpr DType int8 = DTypes::make(DTypeCode::int_, 8);
inline constexpr DType int16 = DTypes::make(DTypeCode::int_, 16);
inline constexpr DType int32 = DTypes::make(DTypeCode::int_, 32);
inline constexpr DType int64 = DTypes::make(DTypeCode::int_, 64);
inline constexpr DType uint8 = DTypes::make(DTypeCode::uint, 8);
inline constexpr DType uint16 = DTypes::make(DTypeCode::uint, 16);
inline constexpr DType uint32 = DTypes::make(DTypeCode::uint, 32);
inline constexpr DType uint64 = DTypes::make(DTypeCode::uint, 64);
inline constexpr DType float16 = DTypes::make(DTypeCode::float_, 16);
inline constexpr DType bfloat16 = DTypes::make(DTypeCode::bfloat, 16);
inline constexpr DType float32 = DTypes::make(DTypeCode::float_, 32);
inline constexpr DType float64 = DTypes::make(DTypeCode::float_, 64);
inline constexpr DType complex64 = DTypes::make(DTypeCode::complex, 64);
inline constexpr DType complex128 = DTypes::make(DTypeCode::complex, 128);

/// The result dtype of arrays of `a` and `b` in NumPy 2 (numpy.result_type). bfloat16 follows
/// ml_dtypes; where ml_dtypes defines no result (float16, or integers of 16 bits and more) it is
/// the float32 or float64 that holds both. Throws DTypeError where either is not computable.
SW_API DType promote(DType a, DType b);
/// The same for one or more dtypes, combined in the order complex, floating, integer, bool, so that
/// (int8, uint8, float16) gives float16 as in NumPy, although int8 and uint8 alone give int16.
/// Throws ArgumentError for an empty list.
SW_API DType promote(std::span<const DType> dtypes);
/// numpy.can_cast for the computable dtypes; other dtypes cast only to themselves.
SW_API bool can_cast(DType from, DType to, Casting casting);

}  // namespace spanwise
