// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/core/dtype.hpp"
#include "spanwise/core/export.hpp"

namespace spanwise {

/// The CUDA C type name of a computable dtype: "float", "unsigned short"; where C has no type, a
/// name of <spanwise/elements.cuh>: "Bool", "Half", "BFloat", "Complex<float>", "Complex<double>".
/// Throws DTypeError for other dtypes, which kernels can only move as unsigned integers
/// (word_text()).
SW_API const char* element_text(DType dtype);

/// The CUDA C name of the unsigned integer type of `bytes` bytes (1, 2, 4 or 8), for moving
/// elements of any dtype and for sign-agnostic integer arithmetic. Throws DTypeError for other
/// sizes.
SW_API const char* word_text(int bytes);

}  // namespace spanwise
