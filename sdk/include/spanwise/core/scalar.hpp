// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iosfwd>
#include <type_traits>

#include "spanwise/core/dtype.hpp"
#include "spanwise/core/export.hpp"

namespace spanwise {

/// One element with its dtype, on the host: a kernel argument, a fill value or a 0-d constant.
class SW_API Scalar {
 public:
  Scalar(bool value) noexcept : Scalar(DTypeCode::bool_, value) {}
  /// Any C++ integer but bool: int8 to int64 or uint8 to uint64, by its width and signedness.
  template <std::integral T>
  Scalar(T value) noexcept
      : Scalar(std::is_signed_v<T> ? DTypeCode::int_ : DTypeCode::uint, value) {}
  Scalar(float value) noexcept : Scalar(DTypeCode::float_, value) {}
  Scalar(double value) noexcept : Scalar(DTypeCode::float_, value) {}
  Scalar(std::complex<float> value) noexcept : Scalar(DTypeCode::complex, value) {}
  Scalar(std::complex<double> value) noexcept : Scalar(DTypeCode::complex, value) {}
  /// The element of `dtype` at address `bytes`, aligned or not. Throws DTypeError above 16 bytes.
  Scalar(DType dtype, const void* bytes);

  DType dtype() const noexcept { return dtype_; }
  const void* data() const noexcept { return bytes_; }
  /// Converts to `dtype` as NumPy's astype does (C rules; complex to real keeps the real part).
  /// Throws DTypeError where either dtype is not computable and they differ.
  Scalar cast(DType dtype) const;
  /// cast(float64) and cast(int64) as plain values.
  double as_double() const;
  std::int64_t as_int64() const;
  /// True where cast(dtype) keeps the value exactly (NaN equals NaN). Where a dtype is not
  /// computable, true only for dtype() itself.
  bool fits(DType dtype) const;
  /// In Python's syntax, with the fewest digits that determine the value: True, 1.5, (1.0+2.0j);
  /// where the dtype is not computable, its name and the bytes in hexadecimal.
  friend SW_API std::ostream& operator<<(std::ostream& out, const Scalar& scalar);

 private:
  template <class T>
  Scalar(DTypeCode code, T value) noexcept : dtype_(DTypes::make(code, 8 * sizeof(T))) {
    std::memcpy(bytes_, &value, sizeof value);
  }

  DType dtype_;
  alignas(16) std::byte bytes_[16] = {};
};

}  // namespace spanwise
