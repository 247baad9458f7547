// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "product.hpp"

/// Checks that multiply() and contract() share; `who` is the name of the function in error texts.
namespace spanwise::ops::linalg {

/// Throws DeviceError unless `array` is on `device` or both are on the host.
void check_device(const char* who, const Array& array, Device device);
/// The dtype in which the product is computed. Throws DTypeError where the options forbid it.
DType computed_dtype(const char* who, const Array& left, const Array& right,
                     const ProductOptions& options);

}  // namespace spanwise::ops::linalg
