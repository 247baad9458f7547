// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace spanwise {

/// IEEE 754 binary16, for storage and conversion; arithmetic is done in float.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  /// Rounds to nearest even; NaN stays NaN, overflow becomes infinity.
  explicit Half(float value) noexcept : bits(from_float(value)) {}
  explicit operator float() const noexcept { return to_float(bits); }

 private:
  static std::uint16_t from_float(float value) noexcept;
  static float to_float(std::uint16_t bits) noexcept;
};

/// bfloat16: the upper half of a float32, for storage and conversion.
struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  /// Rounds to nearest even; NaN stays NaN.
  explicit BFloat16(float value) noexcept : bits(from_float(value)) {}
  explicit operator float() const noexcept {
    return std::bit_cast<float>(std::uint32_t{bits} << 16);
  }

 private:
  static std::uint16_t from_float(float value) noexcept {
    const auto word = std::bit_cast<std::uint32_t>(value);
    // 0x40 is the quiet bit: without it a NaN whose payload is in the low half would become
    // infinity.
    if ((word & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((word >> 16) | 0x40u);
    return static_cast<std::uint16_t>((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
};

inline float Half::to_float(std::uint16_t half) noexcept {
  const std::uint32_t sign = std::uint32_t{half & 0x8000u} << 16;
  std::uint32_t exponent = (half >> 10) & 0x1fu, mantissa = half & 0x3ffu;
  if (exponent == 0x1fu) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    // Subnormal halves are multiples of 2^-24, exact in float.
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  // The biases of the exponents, 127 and 15, differ by 112.
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}

inline std::uint16_t Half::from_float(float value) noexcept {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((word >> 16) & 0x8000u);
  const std::uint32_t magnitude = word & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu));
  // From 65520 on, half way between the largest half and the next power of two.
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // below 2^-14: a subnormal half
    // Adding 0.5 puts the units of 2^-24 in the low bits of the sum; the adder rounds to even.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  // 0x38000000 is 112 << 23, the difference of the biases.
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

}  // namespace spanwise
