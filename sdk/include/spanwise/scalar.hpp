// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <ostream>

#include "spanwise/dtype.hpp"
#include "spanwise/export.hpp"

namespace spanwise {

/// One element with its dtype: what a kernel argument, a fill or a 0-d constant is made of.
class SW_API Scalar {
 public:
  Scalar(bool value) noexcept;
  Scalar(std::int32_t value) noexcept;
  Scalar(std::int64_t value) noexcept;
  Scalar(std::uint64_t value) noexcept;
  Scalar(float value) noexcept;
  Scalar(double value) noexcept;
  Scalar(std::complex<double> value) noexcept;
  /// The element of `dtype` whose bytes stand at `bytes`. Throws DTypeError above 16 bytes.
  Scalar(DType dtype, const void* bytes);

  DType dtype() const noexcept { return dtype_; }
  const void* data() const noexcept { return bytes_; }
  /// As `dtype`, converted as NumPy's astype does (C rules; complex to real keeps the real part).
  Scalar cast(DType dtype) const;
  double as_double() const;
  std::int64_t as_int64() const;
  /// True where cast(dtype) and back gives the same value: nothing is lost.
  bool fits(DType dtype) const;
  friend SW_API std::ostream& operator<<(std::ostream& out, const Scalar& scalar);

 private:
  DType dtype_;
  alignas(16) std::byte bytes_[16] = {};
};

}  // namespace spanwise
