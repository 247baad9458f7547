// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "spanwise/core/dtype.hpp"

/// Calls a template with the size or the integer type of elements that are known at run time.
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
