// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <vector>

#include "spanwise/core/array.hpp"
#include "spanwise/core/scalar.hpp"
#include "support/layouts.hpp"

/// Simple copies, element by element, of memory that the host can address.
namespace spanwise::test {

/// The description of an array for a copy; does not keep its memory alive.
struct UnownedArray {
  explicit UnownedArray(const Array& array)
      : data(static_cast<std::byte*>(array.storage().data())),
        layout(array.layout()),
        dtype(array.dtype()) {}
  std::byte* at(const Index& index) const {
    return data + offset_of(layout, index) * dtype.itemsize();
  }

  std::byte* data;
  Layout layout;
  DType dtype;
};

/// Copies between equal shapes: bytes if the dtypes are equal, else elements that are cast.
void naive_copy(const UnownedArray& source, const UnownedArray& target);
/// Sets every element to `value`, which has the target's dtype.
void naive_fill(const UnownedArray& target, const Scalar& value);

/// The elements in C order, each cast to complex128.
std::vector<std::complex<double>> values(const Array& array);

/// Writes `values`, cast to the array's dtype, in C order.
void set_values(const Array& array, const std::vector<std::complex<double>>& values);

}  // namespace spanwise::test
