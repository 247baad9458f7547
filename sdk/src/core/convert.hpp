// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "spanwise/half.hpp"

/// How one element becomes another: numpy.ndarray.astype(casting="unsafe"), with an answer for the
/// cases that C leaves undefined. Scalars and the CPU's copies share it, so they cannot disagree.
namespace spanwise::core {

template <class T>
inline constexpr bool is_complex_type = false;
template <class T>
inline constexpr bool is_complex_type<std::complex<T>> = true;
template <class T>
inline constexpr bool is_half_type = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

namespace detail {

/// `value` as a float that a second rounding, to fewer bits, rounds as it would have rounded
/// `value`: where inexact, the neighbour with an odd last bit (Boldo and Melquiond 2008, "round to
/// odd").
inline float round_to_odd(double value) noexcept {
  const float nearest = static_cast<float>(value);
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (static_cast<double>(nearest) == value || std::isnan(value) || (bits & 1u) != 0)
    return nearest;
  const bool away = std::fabs(static_cast<double>(nearest)) < std::fabs(value);
  return std::bit_cast<float>(away ? bits + 1 : bits - 1);
}

/// Out of range, and NaN, give what x86-64 compilers' conversions give, and so NumPy there: types
/// below 32 bits wrap the 32-bit result, and what does not fit that is its lowest value.
template <class To, class From>
To to_integer(From value) noexcept {
  if constexpr (sizeof(To) < 4) {
    return static_cast<To>(to_integer<std::int32_t>(value));
  } else if constexpr (std::is_same_v<To, std::uint32_t>) {
    return static_cast<To>(to_integer<std::int64_t>(value));
  } else if constexpr (std::is_same_v<To, std::uint64_t>) {
    constexpr From half = static_cast<From>(0x1p63);
    const bool high = value >= half;
    const auto low = static_cast<To>(to_integer<std::int64_t>(high ? value - half : value));
    return high ? low ^ (To{1} << 63) : low;
  } else {
    // -(2^n) is exact in both float types, and so is 2^n; what lies between them truncates into
    // range.
    constexpr From limit = sizeof(To) == 4 ? static_cast<From>(0x1p31) : static_cast<From>(0x1p63);
    // Between -2^31 - 1 and -2^31 the truncation still fits 32 bits.
    constexpr From below = sizeof(To) == 4 && sizeof(From) == 8 ? -limit - 1 : -limit;
    const bool fits = value < limit && (value > below || value == -limit);
    return fits ? static_cast<To>(value) : std::numeric_limits<To>::min();
  }
}

}  // namespace detail

template <class To, class From>
To convert(From value) noexcept {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (is_half_type<From>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (is_complex_type<From> && is_complex_type<To>) {
    using Part = typename To::value_type;
    return To(static_cast<Part>(value.real()), static_cast<Part>(value.imag()));
  } else if constexpr (is_complex_type<From>) {
    return convert<To>(value.real());
  } else if constexpr (is_complex_type<To>) {
    return To(static_cast<typename To::value_type>(value));
  } else if constexpr (is_half_type<To> && std::is_same_v<From, double>) {
    return To(detail::round_to_odd(value));
  } else if constexpr (is_half_type<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return detail::to_integer<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace spanwise::core
