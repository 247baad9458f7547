// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "spanwise/core/dtype.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/half.hpp"

/// From dtypes and sizes of elements, which are known at run time, to C++ types and back.
namespace spanwise {

/// Calls f(std::integral_constant<int, bytes>()) for elements of 1, 2, 4, 8 or 16 bytes, with 0 in
/// place of any other size.
template <class F>
auto with_word_size(std::int64_t bytes, F&& f) {
  switch (bytes) {
    case 1:
      return f(std::integral_constant<int, 1>());
    case 2:
      return f(std::integral_constant<int, 2>());
    case 4:
      return f(std::integral_constant<int, 4>());
    case 8:
      return f(std::integral_constant<int, 8>());
    case 16:
      return f(std::integral_constant<int, 16>());
    default:
      return f(std::integral_constant<int, 0>());
  }
}

/// Calls f(T()) with the unsigned integer T of `bytes` bytes: 1, 2, 4 or 8.
template <class F>
auto with_unsigned(int bytes, F&& f) {
  if (bytes == 1) return f(std::uint8_t());
  if (bytes == 2) return f(std::uint16_t());
  return bytes == 4 ? f(std::uint32_t()) : f(std::uint64_t());
}

/// Calls f(T()) with the C++ type T of an integer dtype.
template <class F>
auto with_integer(DType dtype, F&& f) {
  return with_unsigned(dtype.itemsize(), [&](auto word) {
    const bool is_signed = dtype.code() == DTypeCode::int_;
    return is_signed ? f(std::make_signed_t<decltype(word)>()) : f(word);
  });
}

}  // namespace spanwise

namespace spanwise::core {

/// The dtype of the C++ type T; visit() maps the other way.
template <class T>
inline constexpr DType dtype_of = [] {
  if constexpr (std::is_same_v<T, bool>)
    return bool_;
  else if constexpr (std::is_same_v<T, Half>)
    return float16;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return bfloat16;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return complex64;
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return complex128;
  else if constexpr (std::is_floating_point_v<T>)
    return DTypes::make(DTypeCode::float_, 8 * sizeof(T));
  else
    return DTypes::make(std::is_signed_v<T> ? DTypeCode::int_ : DTypeCode::uint, 8 * sizeof(T));
}();

/// Calls f(std::type_identity<T>{}) with the C++ type T of `dtype`. Throws DTypeError, with a
/// message that begins with `caller`, for a dtype that is not computable.
template <class F>
decltype(auto) visit(DType dtype, const char* caller, F&& f) {
  if (!dtype.is_computable())
    fail<DTypeError>(
        caller, ": cannot compute on ", dtype,
        "; expected bool, an integer, float16/32/64, bfloat16 or complex64/128. Data of "
        "this dtype can be moved and viewed (reinterpret), or cast by its own library");
  if (dtype == float32) return f(std::type_identity<float>{});
  if (dtype == float64) return f(std::type_identity<double>{});
  if (dtype == bool_) return f(std::type_identity<bool>{});
  if (dtype == float16) return f(std::type_identity<Half>{});
  if (dtype == bfloat16) return f(std::type_identity<BFloat16>{});
  if (dtype == complex64) return f(std::type_identity<std::complex<float>>{});
  if (dtype == complex128) return f(std::type_identity<std::complex<double>>{});
  return with_integer(dtype,
                      [&](auto integer) { return f(std::type_identity<decltype(integer)>{}); });
}

/// Loads the element at address `bytes`, aligned or not. Any non-zero byte is a true bool.
template <class T>
T load(const void* bytes) noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    std::uint8_t byte;
    std::memcpy(&byte, bytes, 1);
    return byte != 0;
  } else {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
}

}  // namespace spanwise::core
