// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "spanwise/dtype.hpp"

/// The names that users have for types of elements, in C, in CUDA and in NumPy.
namespace spanwise::ops::user_kernels {

/// C's names, without const and with single spaces between words: "unsigned long", "uint8_t",
/// "complex < float >".
std::optional<DType> c_dtype_named(std::string_view type);
/// "float32", and what else numpy.dtype() takes: "single", "intp".
std::optional<DType> numpy_dtype_named(std::string_view name);
/// float4, uchar2, longlong3, dim3: CUDA's own types of several numbers.
bool is_vector_type(std::string_view type);

/// The C++ type of an element: "float", "long long", "__half", "complex<float>". Throws DTypeError
/// for what cannot be computed on.
std::string c_type(DType dtype);

}  // namespace spanwise::ops::user_kernels
