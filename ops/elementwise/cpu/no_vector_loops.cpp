// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "divisions.hpp"

// Vector loops are written for x86-64, and those by libmvec for Linux. Elsewhere the baseline loops
// are used.
namespace spanwise::ops {

#if !defined(__x86_64__)
CpuLoops find_wide_loops(OpId, DType) { return {}; }
Loop find_vector_exp(DType) noexcept { return nullptr; }
CpuLoops find_vector_power(DType) noexcept { return {}; }
CpuLoops find_integer_power(DType) noexcept { return {}; }
DivideByNumber find_divide_by_number(DType, Division) noexcept { return nullptr; }
Loop find_divide_pairs(DType, PairDivision) noexcept { return nullptr; }
#endif
#if !defined(__x86_64__) || !defined(__linux__)
CpuLoops find_vector_function(OpId, DType) noexcept { return {}; }
#endif

}  // namespace spanwise::ops
