// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/runtime/gemm.hpp"
#include "spanwise/runtime/tools.hpp"

namespace spanwise::cpu_backend {

/// library_gemm() on the CPU: float32, float64 and their complex numbers, by the machine's BLAS.
bool blas_gemm(const GemmCall& call);

/// The BLAS, for `python -m spanwise doctor`.
Tool blas_tool();

}  // namespace spanwise::cpu_backend
