// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "spanwise/core/dtype.hpp"

/// Names of element types in CUDA C++ and in NumPy.
namespace spanwise::ops::user_kernels {

/// "float32" and the other names that numpy.dtype() accepts: "single", "intp".
std::optional<DType> numpy_dtype_named(std::string_view name);
/// Whether `type` is one of CUDA's vector types or complex structs: float4, uchar2, dim3,
/// cuFloatComplex.
bool is_vector_type(std::string_view type);

/// The C++ type with which a user's operation computes: "float", "long long", "__half",
/// "complex<float>". Throws DTypeError for dtypes that cannot be computed on.
std::string c_type(DType dtype);

}  // namespace spanwise::ops::user_kernels
