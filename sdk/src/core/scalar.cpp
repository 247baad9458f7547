// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/core/scalar.hpp"

#include <charconv>
#include <cmath>
#include <ostream>
#include <string_view>

#include "core/element_conversion.hpp"
#include "spanwise/core/element_types.hpp"

namespace spanwise {
namespace {

using core::convert;
using core::dtype_of;
using core::is_complex_type;
using core::is_half_type;
using core::load;
using core::visit;

template <class T>
bool is_negative(T value) {
  if constexpr (is_half_type<T>)
    return static_cast<float>(value) < 0;
  else if constexpr (is_complex_type<T> || std::is_unsigned_v<T>)
    return false;
  else
    return value < 0;
}

template <class T>
bool same_value(T a, T b) {
  if constexpr (is_half_type<T>) {
    return same_value(static_cast<float>(a), static_cast<float>(b));
  } else if constexpr (is_complex_type<T>) {
    return same_value(a.real(), b.real()) && same_value(a.imag(), b.imag());
  } else if constexpr (std::is_floating_point_v<T>) {
    return a == b || (std::isnan(a) && std::isnan(b));
  } else {
    return a == b;
  }
}

// The shortest text that parses as `value`, with ".0" appended where it would look like an integer.
template <class T>
void print_float(std::ostream& out, T value) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  const std::string_view shortest(digits, static_cast<std::size_t>(end - digits));
  out << shortest;
  if (shortest.find_first_of(".en") == shortest.npos) out << ".0";
}

template <class T>
void print(std::ostream& out, T value) {
  if constexpr (std::is_same_v<T, bool>) {
    out << (value ? "True" : "False");
  } else if constexpr (is_half_type<T>) {
    print_float(out, static_cast<float>(value));
  } else if constexpr (is_complex_type<T>) {
    out << '(';
    print_float(out, value.real());
    if (!std::signbit(value.imag())) out << '+';
    print_float(out, value.imag());
    out << "j)";
  } else if constexpr (std::is_floating_point_v<T>) {
    print_float(out, value);
  } else {
    out << +value;
  }
}

void print_bytes(std::ostream& out, DType dtype, const std::byte* bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  out << dtype << "(0x";
  for (int i = dtype.itemsize() - 1; i >= 0; --i) {
    const auto byte = static_cast<unsigned>(bytes[i]);
    out << digits[byte >> 4] << digits[byte & 15u];
  }
  out << ')';
}

}  // namespace

Scalar::Scalar(DType dtype, const void* bytes) : dtype_(dtype) {
  if (dtype.itemsize() > static_cast<int>(sizeof bytes_))
    fail<DTypeError>("scalar: an element of ", dtype, " has ", dtype.itemsize(),
                     " bytes; expected at most ", sizeof bytes_, ". Use an array of one element");
  std::memcpy(bytes_, bytes, static_cast<std::size_t>(dtype.itemsize()));
}

Scalar Scalar::cast(DType dtype) const {
  if (dtype == dtype_) return *this;
  Scalar result = *this;
  result.dtype_ = dtype;
  std::memset(result.bytes_, 0, sizeof result.bytes_);
  visit(dtype_, "cast", [&]<class From>(std::type_identity<From>) {
    visit(dtype, "cast", [&]<class To>(std::type_identity<To>) {
      const To value = convert<To>(load<From>(bytes_));
      std::memcpy(result.bytes_, &value, sizeof value);
    });
  });
  return result;
}

double Scalar::as_double() const { return load<double>(cast(float64).bytes_); }

std::int64_t Scalar::as_int64() const { return load<std::int64_t>(cast(int64).bytes_); }

bool Scalar::fits(DType dtype) const {
  if (dtype == dtype_) return true;
  if (!dtype.is_computable() || !dtype_.is_computable()) return false;
  return visit(dtype_, "fits", [&]<class From>(std::type_identity<From>) {
    return visit(dtype, "fits", [&]<class To>(std::type_identity<To>) {
      const From value = load<From>(bytes_);
      const To cast = convert<To>(value);
      // -1 survives the round trip through an unsigned type, although the value differs there.
      return is_negative(value) == is_negative(cast) && same_value(value, convert<From>(cast));
    });
  });
}

std::ostream& operator<<(std::ostream& out, const Scalar& scalar) {
  if (!scalar.dtype_.is_computable()) {
    print_bytes(out, scalar.dtype_, scalar.bytes_);
  } else {
    visit(scalar.dtype_, "print",
          [&]<class T>(std::type_identity<T>) { print(out, load<T>(scalar.bytes_)); });
  }
  return out;
}

}  // namespace spanwise
