// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/dtype.hpp"
#include "spanwise/export.hpp"

namespace spanwise {

/// What the elements of a computable dtype are called in CUDA C: "float", "unsigned short"; and,
/// where C has no type for what is in memory, by the names of <spanwise/elements.cuh>: "Bool",
/// "Half", "BFloat", "Complex<float>", "Complex<double>". Throws DTypeError for other dtypes, which
/// kernels can only move, as words.
SW_API const char* element_text(DType dtype);

/// The unsigned integer of that many bytes, 1, 2, 4 or 8: what moves an element whatever it is, and
/// what adds integers up whose signs make no difference. Throws DTypeError for other sizes.
SW_API const char* word_text(int bytes);

}  // namespace spanwise
