// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "spanwise/dtype.hpp"

/// Loops that are chosen by the size or the signedness of elements.
namespace spanwise {

/// f(std::integral_constant<int, bytes>()) for elements of 1, 2, 4, 8 or 16 bytes; with 0 for
/// others.
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

/// f(T()) for the unsigned integer T of 1, 2, 4 or 8 bytes.
template <class F>
auto with_unsigned(int bytes, F&& f) {
  if (bytes == 1) return f(std::uint8_t());
  if (bytes == 2) return f(std::uint16_t());
  return bytes == 4 ? f(std::uint32_t()) : f(std::uint64_t());
}

/// f(T()) for the type T of an integer dtype.
template <class F>
auto with_integer(DType dtype, F&& f) {
  return with_unsigned(dtype.itemsize(), [&](auto word) {
    const bool is_signed = dtype.code() == DTypeCode::int_;
    return is_signed ? f(std::make_signed_t<decltype(word)>()) : f(word);
  });
}

}  // namespace spanwise
