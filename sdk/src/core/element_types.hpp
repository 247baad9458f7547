// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "spanwise/core/element_words.hpp"
#include "spanwise/core/dtype.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/half.hpp"

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
